/**
 * Functions of kubectl for pods, including logs, exec, attach, port-forward, proxy and cp; by pod, workload or Service.
 *
 * @packageDocumentation
 */
export type { PodRequest, PodResponse, PodsClient, PodTransport } from './client.js';
export { copyFromPod } from './copy/copy-from-pod.js';
export { copyToPod } from './copy/copy-to-pod.js';
export type { CopyOptions, CopyPaths, CopyResult } from './copy/copy-options.js';
export { isPodStreamError, isPodTargetError, PodStreamError, PodTargetError } from './errors.js';
export type { PodLogsOptions } from './logs/log-options.js';
export { podLogs, podLogText } from './logs/pod-logs.js';
export type { LogLine } from './logs/pod-logs.js';
export { openPort } from './ports/open-port.js';
export type { OpenPortOptions } from './ports/open-port.js';
export { portForward } from './ports/port-forward.js';
export type { ForwardedAddress, ForwardedPort, PortForward, PortForwardOptions } from './ports/port-forward.js';
export { proxyRequest } from './proxy/proxy-request.js';
export type { ProxyOptions } from './proxy/proxy-options.js';
export { attach, exec, startExec } from './process/exec.js';
export type { ExecOptions, ExecResult, ProcessInput } from './process/exec.js';
export type { PodProcess, ProcessOptions } from './process/pod-process.js';
export { resolvePod, resolvePods } from './target.js';
export type { PodUse } from './pod-order.js';
export type { ReadPod } from './read-pod.js';
export type { PodTarget, ResolvePodOptions, WorkloadTarget } from './target.js';
