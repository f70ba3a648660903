// The order of the site: its side bar, and the order of llms.txt.
import { readFileSync } from 'node:fs';

const architecture = JSON.parse(readFileSync(new URL('../../architecture.json', import.meta.url), 'utf8'));

/** @typedef {{ text: string, link: string }} Page */
/** @typedef {{ text: string, items: Page[], collapsed?: boolean }} Section */

/** @type {Section[]} */
export const sections = [
  {
    text: 'Start',
    items: [
      { text: 'Why kctl, and for whom', link: '/why' },
      { text: 'Install', link: '/install' },
      { text: 'A first operator', link: '/first-operator' },
      { text: 'Examples', link: '/examples' },
    ],
  },
  {
    text: 'Concepts',
    items: [
      { text: 'The control loop', link: '/concepts/control-loop' },
      { text: 'The path of an event', link: '/concepts/path-of-an-event' },
      { text: 'The life of a key', link: '/concepts/life-of-a-key' },
      { text: 'Start and stop', link: '/concepts/start-and-stop' },
      { text: 'Leadership', link: '/concepts/leadership' },
    ],
  },
  {
    text: 'Guides',
    items: [
      { text: 'From a type to a running operator', link: '/guides/kctl' },
      { text: 'A resource from one schema', link: '/guides/resources-from-schemas' },
      { text: 'Define your own resource', link: '/guides/own-resources' },
      { text: 'Own other objects', link: '/guides/owned-objects' },
      { text: 'Children in other namespaces', link: '/guides/cross-namespace-children' },
      { text: 'Clean up with finalizers', link: '/guides/finalizers' },
      { text: 'Report status and conditions', link: '/guides/status-and-conditions' },
      { text: 'Reconcile external systems', link: '/guides/external-systems' },
      { text: 'A source of your own', link: '/guides/own-source' },
      { text: 'Write webhooks', link: '/guides/webhooks' },
      { text: 'Conversion between versions', link: '/guides/conversion' },
      { text: 'Test with faults and time', link: '/guides/testing' },
      { text: 'Simulate hours of faults', link: '/guides/simulation' },
      { text: 'Debug an operator', link: '/guides/debugging' },
      { text: 'See why it was reconciled', link: '/guides/inspection' },
      { text: 'Metrics and alerts', link: '/guides/metrics-and-alerts' },
      { text: 'Grant permissions (RBAC)', link: '/guides/rbac' },
      { text: 'Deploy to a cluster', link: '/guides/deployment' },
      { text: 'Bundle into one file', link: '/guides/bundling' },
      { text: 'Upgrade', link: '/guides/upgrading' },
      { text: 'The CronJob tutorial', link: '/guides/cronjob-tutorial' },
    ],
  },
  {
    text: 'Recipes',
    items: [
      { text: 'Read and write objects', link: '/recipes/objects' },
      { text: 'Follow objects', link: '/recipes/informers' },
      { text: 'Queues and time', link: '/recipes/queues' },
      { text: 'Controllers', link: '/recipes/controllers' },
    ],
  },
  {
    text: 'Operate',
    items: [
      { text: 'Production checklist', link: '/production-checklist' },
      { text: 'Troubleshooting by symptom', link: '/troubleshooting' },
      { text: 'Performance', link: '/performance' },
      { text: 'What structures cost and retain', link: '/costs' },
      { text: 'Changelog', link: '/changelog' },
    ],
  },
  {
    text: 'Coming from',
    items: [
      { text: 'Go (controller-runtime)', link: '/coming-from/go' },
      { text: "Defaults that differ from Go's", link: '/coming-from/defaults' },
      { text: 'Features beside those of others', link: '/coming-from/features' },
      { text: "Exported names beside Go's", link: '/coming-from/names' },
      { text: '@kubernetes/client-node', link: '/coming-from/client-node' },
      { text: 'Pepr', link: '/coming-from/pepr' },
      { text: 'Kopf', link: '/coming-from/kopf' },
      { text: 'Comparison with peers', link: '/comparison' },
    ],
  },
  {
    text: 'Packages',
    collapsed: true,
    items: architecture.layers
      .toReversed()
      .flatMap((/** @type {{ packages: string[] }} */ { packages }) => packages)
      .map((/** @type {string} */ name) => ({ text: `@kctl/${name}`, link: `/packages/${name}` })),
  },
];

/** Where the repository is read. */
export const repository = 'https://github.com/kctl-dev/kctl';
