import { isNotFound, isSameJson, type DeepReadonly } from '@kctl/apimachinery';
import { CustomResourceDefinition } from '@kctl/apimachinery/kinds/apiextensions.k8s.io/v1';
import { diffCrd, type CrdChange, type CrdDiff } from '@kctl/crd';
import type { OperatorGraph } from '@kctl/operator';
import { messageOf } from '@kctl/telemetry/internal';
import type { OpenCluster } from '../cluster.js';
import type { CliIo } from '../io.js';
import { definitionsOf, isDefinition } from '../manifests/definitions.js';
import type { Finding } from './finding.js';
import { ownCommand } from '../own-command.js';

const check = 'crd';

/**
 * Checks whether the kinds of the operator are installed as defined in code, with versions that are served and not
 * deprecated.
 */
export async function crdFindings(io: CliIo, cluster: OpenCluster, graph: OperatorGraph): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const manifest of definitionsOf(graph))
    if (isDefinition(manifest)) findings.push(...(await look(io, cluster, manifest)));
  return findings;
}

async function look(
  { signal }: CliIo,
  { client }: OpenCluster,
  manifest: DeepReadonly<CustomResourceDefinition>,
): Promise<Finding[]> {
  const name = manifest.metadata.name ?? '';
  try {
    const found = await client.get(CustomResourceDefinition, { name }, { signal });
    const installed = { ...found, apiVersion: CustomResourceDefinition.apiVersion, kind: 'CustomResourceDefinition' };
    const isShownAlike = isSameJson(shownParts(found), shownParts(manifest));
    const same = comparison(name, diffCrd(installed, manifest), isShownAlike);
    return [same, ...versionFindings(found, manifest)];
  } catch (error) {
    const message = isNotFound(error)
      ? `the kind ${manifest.spec.names.kind} (${name}) is not installed: run ${ownCommand('install')}`
      : `${name} cannot be read: ${messageOf(error)}`;
    return [{ check, status: 'problem', message }];
  }
}

function comparison(name: string, { changes, verdict }: CrdDiff, isShownAlike: boolean): Finding {
  const again = `run ${ownCommand('install')}`;
  if (changes.length === 0 && isShownAlike) return { check, status: 'ok', message: `${name} is what the code says` };
  const what = changes.length === 0 ? 'short names, categories or columns' : describeChanges(changes);
  const message = `${name} differs from the code${changes.length === 0 ? ' in' : ':'} ${what}: `;
  if (verdict === 'compatible') return { check, status: 'warning', message: `${message}${again}` };
  return { check, status: 'problem', message: `${message}this is ${verdict}, see to stored objects, then ${again}` };
}

/** Parts that only kubectl uses and shows, so no object depends on them. */
function shownParts({ spec }: DeepReadonly<CustomResourceDefinition>): object {
  const { shortNames = [], categories = [] } = spec.names;
  return {
    shortNames,
    categories,
    columns: Object.fromEntries(
      spec.versions.map(({ name, additionalPrinterColumns = [] }) => [name, additionalPrinterColumns]),
    ),
  };
}

/** The first change by its field, and how many there are beside it. */
function describeChanges(changes: readonly CrdChange[]): string {
  const [first] = changes;
  if (first === undefined) return 'no change';
  const where = [first.version, first.path].filter((part) => part !== '').join(' ');
  const more = changes.length === 1 ? '' : ` (and ${changes.length - 1} more)`;
  return `${where === '' ? '' : `${where}: `}${first.reason}${more}`;
}

/** Versions that are deprecated, not served, or stored although the code no longer has them. */
function versionFindings(
  found: DeepReadonly<CustomResourceDefinition>,
  manifest: DeepReadonly<CustomResourceDefinition>,
): Finding[] {
  const name = found.metadata.name ?? '';
  const own = manifest.spec.versions.map((version) => version.name);
  const { versions } = found.spec;
  return [
    ...versions
      .filter((version) => version.deprecated === true)
      .map(
        (version): Finding => ({
          check,
          status: 'warning',
          message: `${version.name} of ${name} is deprecated: ${version.deprecationWarning ?? 'move its users to a newer version'}`,
        }),
      ),
    ...versions
      .filter((version) => !version.served && own.includes(version.name))
      .map(
        (version): Finding => ({
          check,
          status: 'warning',
          message: `${version.name} of ${name} is not served: no request can use it`,
        }),
      ),
    ...(found.status?.storedVersions ?? [])
      .filter((version) => !own.includes(version))
      .map(
        (version): Finding => ({
          check,
          status: 'problem',
          message: `objects of ${name} may be stored as ${version}, which the code no longer has: keep the version, and move them by migrateStorage of @kctl/client`,
        }),
      ),
  ];
}
