import { numberProblem } from '@kctl/options';
import { parseDuration, type Duration } from '@kctl/wait';

/** How long the components of a real control plane may take. Mirrors `ControlPlaneStartTimeout` and `…StopTimeout` of envtest. */
export interface ControlPlaneTimeouts {
  /** Until it is ready, each. @default KUBEBUILDER_CONTROLPLANE_START_TIMEOUT, such as `2m`; else 60 s */
  readonly startTimeout?: Duration;
  /** After SIGTERM, before SIGKILL, each. @default KUBEBUILDER_CONTROLPLANE_STOP_TIMEOUT; else 2 s */
  readonly stopTimeout?: Duration;
}

/** In ms. @throws TypeError naming the option or variable that is not a duration */
export function resolveTimeouts(
  { startTimeout, stopTimeout }: ControlPlaneTimeouts,
  environment: Readonly<Record<string, string | undefined>>,
): { readonly startMs: number; readonly stopMs: number } {
  const resolve = (field: string, given: Duration | undefined, variable: string): number | undefined => {
    if (given !== undefined) return positive(field, given);
    const text = environment[variable] ?? '';
    return text === '' ? undefined : positive(variable, text);
  };
  return {
    startMs: resolve('startTimeout', startTimeout, 'KUBEBUILDER_CONTROLPLANE_START_TIMEOUT') ?? 60_000,
    // kube-apiserver would wait a minute for its open watches.
    stopMs: resolve('stopTimeout', stopTimeout, 'KUBEBUILDER_CONTROLPLANE_STOP_TIMEOUT') ?? 2_000,
  };
}

function positive(field: string, given: Duration): number {
  const ms = parseDuration(given, field);
  const problem = numberProblem(field, ms, { above: 0 });
  if (problem !== undefined) throw new TypeError(problem);
  return ms;
}
