/** Finalizer by which a CustomResourceDefinition waits for its instances. */
export const crdFinalizer = 'customresourcecleanup.apiextensions.k8s.io';
