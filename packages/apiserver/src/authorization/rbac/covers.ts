import { entityTooLarge } from '../../protocol/status.js';
import { coversUrl, type PolicyRule } from './policy-rule.js';

const noRule: PolicyRule = { verbs: [], apiGroups: [], resources: [], resourceNames: [], nonResourceURLs: [] };

/** How many rules with one verb and one resource or URL each are compared: 10 KB of lists can stand for millions. */
const maxAtoms = 50_000;

function countAtoms({ verbs, apiGroups, resources, resourceNames, nonResourceURLs }: PolicyRule): number {
  const named = apiGroups.length * resources.length * Math.max(1, resourceNames.length);
  return (named + nonResourceURLs.length) * verbs.length;
}

/**
 * Permissions that some rules grant and others do not, as rules with one verb and one resource or URL each.
 *
 * @throws StatusError 413 if there are too many of them
 */
export function uncovered(owned: readonly PolicyRule[], wanted: readonly PolicyRule[]): PolicyRule[] {
  const count = wanted.reduce((sum, rule) => sum + countAtoms(rule), 0);
  if (count > maxAtoms)
    throw entityTooLarge(
      `Request entity too large: the rules stand for ${count} combinations of verbs and resources, more than ${maxAtoms}; use fewer, or '*'`,
    );
  return wanted.flatMap(atoms).filter((atom) => !owned.some((rule) => covers(rule, atom)));
}

function atoms({ verbs, apiGroups, resources, resourceNames, nonResourceURLs }: PolicyRule): PolicyRule[] {
  const found: PolicyRule[] = [];
  const names = resourceNames.length === 0 ? [[]] : resourceNames.map((name) => [name]);
  for (const group of apiGroups)
    for (const resource of resources)
      for (const verb of verbs)
        for (const name of names)
          found.push({ ...noRule, apiGroups: [group], resources: [resource], verbs: [verb], resourceNames: name });
  for (const url of nonResourceURLs)
    for (const verb of verbs) found.push({ ...noRule, nonResourceURLs: [url], verbs: [verb] });
  return found;
}

const hasAll = (owned: readonly string[], wanted: readonly string[]): boolean =>
  owned.includes('*') || wanted.every((value) => owned.includes(value));

function covers(rule: PolicyRule, atom: PolicyRule): boolean {
  return (
    hasAll(rule.verbs, atom.verbs) &&
    hasAll(rule.apiGroups, atom.apiGroups) &&
    atom.resources.every((resource) => coversResource(rule.resources, resource)) &&
    atom.nonResourceURLs.every((url) => rule.nonResourceURLs.some((owned) => coversUrl(owned, url))) &&
    (rule.resourceNames.length === 0 ||
      (atom.resourceNames.length > 0 && atom.resourceNames.every((name) => rule.resourceNames.includes(name))))
  );
}

function coversResource(owned: readonly string[], resource: string): boolean {
  if (owned.includes('*') || owned.includes(resource)) return true;
  const slash = resource.indexOf('/');
  return slash >= 0 && owned.includes(`*${resource.slice(slash)}`);
}

/** Rules that a user lacks, as upstream prints them, with the verbs of one resource together, in alphabetical order. */
export function describeRules(rules: readonly PolicyRule[]): string {
  const merged = new Map<string, PolicyRule>();
  for (const rule of rules) {
    const { apiGroups, resources, resourceNames, nonResourceURLs } = rule;
    // A rule for a URL stays by itself.
    const key = JSON.stringify([apiGroups, resources, resourceNames, ...(nonResourceURLs.length > 0 ? [rule] : [])]);
    const present = merged.get(key);
    merged.set(key, present === undefined ? rule : { ...present, verbs: [...present.verbs, ...rule.verbs] });
  }
  return [...new Set([...merged.values()].map(describeRule))].sort().join('\n');
}

function describeRule({ apiGroups, resources, nonResourceURLs, resourceNames, verbs }: PolicyRule): string {
  const parts: readonly (readonly [name: string, values: readonly string[]])[] = [
    ['APIGroups', apiGroups],
    ['Resources', resources],
    ['NonResourceURLs', nonResourceURLs],
    ['ResourceNames', resourceNames],
    ['Verbs', verbs],
  ];
  const shown = parts.filter(([, values]) => values.length > 0).map(([name, values]) => `${name}:${goList(values)}`);
  return `{${shown.join(', ')}}`;
}

/** Strings as Go's `%q` prints a list of them. */
export function goList(values: readonly string[]): string {
  return `[${values.map((value) => JSON.stringify(value)).join(' ')}]`;
}
