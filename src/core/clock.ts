/** The longest delay of setTimeout: Node treats a longer one as 1 ms. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** The longest deadline or grace period that a caller may ask for: about 68 years. */
export const LONGEST_TIMEOUT_MS = 2_147_483_647_000;
