/**
 * Returns the secret of a one-time sign-in link and removes it from the URL and the history. The secret is in the hash,
 * which browsers send neither to the server nor in a referrer.
 */
function takeSecret(): string | null {
  if (location.pathname !== "/sign-in" || location.hash.length < 2) return null;
  const secret = location.hash.slice(1);
  history.replaceState(null, "", "/");
  return secret;
}

export const linkSecret = takeSecret();
