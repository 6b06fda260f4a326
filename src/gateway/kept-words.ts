/**
 * What a session's row keeps of the words it was asked with. Whatever can run as one text is kept whole: the kernel takes
 * no longer argument. Of more, which is asked for to fill the disk if at all, only the beginning (promise 6).
 */
const MOST_TEXT = 128 << 10;
const MOST_WORDS = 256 << 10;

export function keptText(text: string): string {
  if (text.length <= MOST_TEXT) return text;
  return `${text.slice(0, MOST_TEXT).toWellFormed()}… [${text.length - MOST_TEXT} more characters]`;
}

export function keptWords(words: readonly string[]): readonly string[] {
  let left = MOST_WORDS;
  for (const word of words) left -= word.length;
  if (left >= 0) return words;
  const kept: string[] = [];
  left = MOST_WORDS;
  for (const word of words) {
    left -= word.length;
    if (left < 0) break;
    kept.push(word);
  }
  return [...kept, `… [${words.length - kept.length} more]`];
}
