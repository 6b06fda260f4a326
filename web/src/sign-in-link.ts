/**
 * The secret of a one-time link stands behind the #, which no server and no referrer ever sees. It is taken out of the
 * address before anything else looks at it: nothing of it may stay there or in the history.
 */
function takeSecret(): string | null {
  if (location.pathname !== "/sign-in" || location.hash.length < 2) return null;
  const secret = location.hash.slice(1);
  history.replaceState(null, "", "/");
  return secret;
}

export const linkSecret = takeSecret();
