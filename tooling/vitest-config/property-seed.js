import fc from 'fast-check';

// CI repeats itself: a run that fails there must fail again. Everywhere else seeds are new each time and find new bugs;
// KCTL_PROPERTY_SEED repeats a run.
const seed = process.env.KCTL_PROPERTY_SEED ?? (process.env.CI === undefined ? undefined : '20261121');
if (seed !== undefined) fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(seed) });
