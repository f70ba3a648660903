/** For `KCTL_STORAGE=compact`: objects are compressed as soon as others come. */
export const defaultStorage = { plainBytes: 0 };
