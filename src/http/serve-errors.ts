import { SallyportError } from "../core/error.ts";

export function cannotListen(place: string, { message }: Error): SallyportError {
  return new SallyportError("InvalidRequest", `The service cannot listen at ${place}: ${message}.`, [
    { action: "other_port", hint: "Choose another place: --listen [HOST:]PORT; port 0 takes a free one." },
  ]);
}

export function unusableCertificate({ message }: Error): SallyportError {
  return new SallyportError("InvalidRequest", `The certificate and its key cannot be used: ${message}.`, [
    { action: "fix_certificate", hint: "--tls-cert and --tls-key take PEM files that belong together." },
  ]);
}
