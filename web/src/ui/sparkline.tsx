import { createMemo } from "solid-js";

const WIDTH = 72;
const HEIGHT = 20;

/** A small chart of recent values. It is hidden from screen readers; the text beside it states the current value. */
export function Sparkline(props: { values: readonly number[]; samples: number; atLeast: number }) {
  const points = createMemo(() => {
    const most = Math.max(props.atLeast, ...props.values);
    const step = WIDTH / (props.samples - 1);
    const from = WIDTH - (props.values.length - 1) * step;
    return props.values.map((value, index) => {
      const y = HEIGHT - 1.5 - (value / most) * (HEIGHT - 3);
      return `${(from + index * step).toFixed(1)},${y.toFixed(1)}`;
    });
  });
  const area = () => {
    const [first = "0,0"] = points();
    return `M${first.split(",")[0]},${HEIGHT}L${points().join("L")}L${WIDTH},${HEIGHT}Z`;
  };
  return (
    <svg class="sparkline" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} aria-hidden="true">
      <path class="area" d={points().length > 1 ? area() : ""} />
      <polyline points={points().join(" ")} />
    </svg>
  );
}
