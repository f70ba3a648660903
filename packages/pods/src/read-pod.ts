import type { Pod } from '@kctl/apimachinery/kinds/core/v1';
import type { ReadObject } from '@kctl/client';

/** A pod as a read returns it. */
export type ReadPod = ReadObject<typeof Pod>;
