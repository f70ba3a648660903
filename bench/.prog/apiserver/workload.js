// What is asked of the servers, in names and sizes.

/** Objects of this namespace are updated and watched. */
export const watched = 'watched';
export const watchedCount = 16;
/** Objects are created in this one. */
export const created = 'created';
export const small = 'small';
export const smallCount = Number(process.env['KCTL_BENCH_SMALL_LIST'] ?? '5000');
export const large = 'large';
export const largeCount = Number(process.env['KCTL_BENCH_LARGE_LIST'] ?? '50000');

/** Data of a ConfigMap, 1 KB. */
export function configMapData(i        )                         {
  const line = `object ${i} ${'abcdefghijklmnopqrstuvwxyz '.repeat(4)}`;
  return Object.fromEntries(Array.from({ length: 8 }, (_, n) => [`key-${n}`, `${line}${n}`]));
}

export function pathOf(namespace        , name = '')         {
  return `/api/v1/namespaces/${namespace}/configmaps${name === '' ? '' : `/${name}`}`;
}
