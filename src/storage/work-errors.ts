import { SallyportError } from "../core/error.ts";

const LIST = { action: "list_work", hint: "`sallyport work list -a` shows every item and its state." };

export function workNotFound(id: number): SallyportError {
  return new SallyportError("WorkNotFound", `There is no work item ${id}.`, [LIST]);
}

export function leaseLost(id: number, done: boolean): SallyportError {
  const why = done ? "it was done by another worker" : "its lease ran out and it was claimed again, or was never yours";
  return new SallyportError("LeaseLost", `The work item ${id} is not yours: ${why}.`, [
    { action: "drop_work", hint: "Drop it: whoever holds it now will see to it." },
    { action: "lease_longer", hint: "Claim with a longer lease if the work takes longer." },
    LIST,
  ]);
}
