import type { LeafDifference } from './flatten.js';

/** A difference that is meant, and why. */
export interface LeftOut {
  readonly name: string;
  readonly reason: string;
  readonly matches: (leaf: LeafDifference) => boolean;
}

const words = (value: unknown): string => (typeof value === 'string' ? value.split(/\s+/).join(' ').trim() : '');
const isDescription = ({ path }: LeafDifference): boolean => path.endsWith('/description');
/** Fields whose type is one of Kubernetes. */
const builtIn = /\/(?:jobTemplate|active|conditions|selector)(?:\/|\[)/;

/** What ours leaves out, or has otherwise. Every other difference fails the comparison. */
export const leftOut: readonly LeftOut[] = [
  {
    name: 'version of the tool',
    reason: 'an annotation with the version of the generator changes every file with every upgrade',
    matches: ({ path, ours }) => path.endsWith('controller-gen.kubebuilder.io/version') && ours === undefined,
  },
  {
    name: 'texts of apiVersion and kind',
    reason: 'the first sentence is kept; the rest is the same in every definition',
    matches: (leaf) =>
      /openAPIV3Schema\/properties\/(?:apiVersion|kind)\/description$/.test(leaf.path) &&
      words(leaf.theirs).startsWith(words(leaf.ours)),
  },
  {
    name: 'texts of built-in types',
    reason: 'the first sentence is kept, so that a bundle does not carry the whole reference documentation',
    matches: (leaf) => isDescription(leaf) && builtIn.test(leaf.path) && isShortened(leaf),
  },
  {
    name: 'names that CEL cannot read',
    reason:
      'controller-gen writes has(self.oci-image), which the API server refuses; ours writes has(self.oci__dash__image)',
    matches: ({ path, ours, theirs }) =>
      path.endsWith('/rule') && words(ours).replaceAll('__dash__', '-') === words(theirs),
  },
  {
    name: 'empty subresources',
    reason: 'controller-gen writes `subresources: {}` beside print columns; the definition means the same without it',
    matches: ({ path, ours, theirs }) => path.endsWith('/subresources') && ours === undefined && theirs === '{}',
  },
];

function isShortened({ ours, theirs }: LeafDifference): boolean {
  if (ours === undefined) return true;
  const start = words(ours).replace(/\.$/, '');
  return start !== '' && words(theirs).includes(start);
}
