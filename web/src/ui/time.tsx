import { formatAge, formatDuration } from "../../../src/text/format.ts";
import { fullTime, now } from "./clock.ts";

/** The time elapsed since `at`. The tooltip has the exact time. */
export function Ago(props: { at: string }) {
  return (
    <time datetime={props.at} title={fullTime(props.at)}>
      {formatAge(now() - Date.parse(props.at))}
      <span class="unseen"> ago</span>
    </time>
  );
}

export function Until(props: { at: string }) {
  const left = () => Math.max(0, Date.parse(props.at) - now());
  return (
    <time datetime={props.at} title={fullTime(props.at)}>
      {formatDuration(Math.ceil(left() / 1000) * 1000)}
    </time>
  );
}
