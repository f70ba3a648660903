import type { DeepReadonly, KubeObject } from '@kctl/apimachinery';

/** Every object type of a kind is a KubeObject; the compiler cannot see that through the conditional type. */
export function asObject(object: object): DeepReadonly<KubeObject> {
  return object as DeepReadonly<KubeObject>;
}
