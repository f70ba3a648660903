import { PodTargetError } from './errors.js';
import { describeTarget } from './target.js';
import type { ReadPod } from './read-pod.js';

/** kubectl's annotation for the default container if none is named. */
const defaultContainerAnnotation = 'kubectl.kubernetes.io/default-container';

/** The names of all containers of a pod, including init, regular and ephemeral ones. */
export function containerNames({ spec }: ReadPod): readonly string[] {
  return [...(spec?.initContainers ?? []), ...(spec?.containers ?? []), ...(spec?.ephemeralContainers ?? [])].map(
    ({ name }) => name,
  );
}

/** The container that kubectl uses if none is named, which is that of its annotation, else the first one. */
export function defaultContainer(pod: ReadPod): string {
  const annotated = pod.metadata.annotations?.[defaultContainerAnnotation];
  if (annotated !== undefined && containerNames(pod).includes(annotated)) return annotated;
  const [first] = pod.spec?.containers ?? [];
  if (first === undefined) throw new PodTargetError(`${describeTarget(pod)} has no containers`);
  return first.name;
}

/** @throws PodTargetError naming the containers that there are */
export function requireContainer(pod: ReadPod, container: string): string {
  const names = containerNames(pod);
  if (names.includes(container)) return container;
  throw new PodTargetError(
    `container ${JSON.stringify(container)} is not in ${describeTarget(pod)}: it has ${names.join(', ')}`,
  );
}
