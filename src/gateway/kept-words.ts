/**
 * What a session's row keeps of the words it was asked with. Whatever can run as one text is kept whole: the kernel takes
 * no longer argument. Of more, which is asked for to fill the disk if at all, only the beginning (promise 6).
 */
const MOST_TEXT = 128 << 10;
/** Of a command's own words, as many as the kernel takes at once; of one that is refused far fewer tell enough. */
const MOST_WORDS = { ran: 2 << 20, refused: 256 << 10 };
/** Each is stored between quotes and behind a comma, however short it is. */
const AROUND = 3;

export function keptText(text: string): string {
  if (text.length <= MOST_TEXT) return text;
  return `${text.slice(0, MOST_TEXT).toWellFormed()}… [${text.length - MOST_TEXT} more characters]`;
}

export function keptWords(words: readonly string[], as: keyof typeof MOST_WORDS): readonly string[] {
  let left = MOST_WORDS[as];
  for (const word of words) left -= word.length + AROUND;
  if (left >= 0) return words;
  const kept: string[] = [];
  left = MOST_WORDS[as];
  for (const word of words) {
    left -= word.length + AROUND;
    if (left < 0) break;
    kept.push(word);
  }
  return [...kept, `… [${words.length - kept.length} more]`];
}
