/** The Sallyport logo. */
export function Mark() {
  return (
    <svg class="mark" viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="7" />
      <path class="arch" d="M7 26V13a9 9 0 0 1 18 0v13h-4.500V14a4.500 4.500 0 0 0-9 0v12z" />
      <path class="way" d="M14.800 26v-7.500h2.400V26z" />
    </svg>
  );
}
