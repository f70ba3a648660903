import type { UntypedObject } from '@kctl/apimachinery';
import { arrayOf, ensureObject, objectsOf, stringOf, type JsonObject, goQuoted } from '@kctl/crd/internal/engine';
import { nameSuffix } from '../name-suffix.js';
import type { WriteContext } from '../../resource/resource.js';
import { forbiddenObject } from '../../protocol/status.js';

const mountPath = '/var/run/secrets/kubernetes.io/serviceaccount';
const volumePrefix = 'kube-api-access-';
const mirror = 'kubernetes.io/config.mirror';
/** An hour, and a little more than what a kubelet renews at. */
const tokenSeconds = 3607;

/**
 * Gives a pod the service account `default` if it names none, a volume with a token of its service account, and the
 * account's image pull secrets, as the ServiceAccount admission plugin does on create.
 *
 * @throws StatusError 403 if the service account does not exist
 */
export function giveServiceAccount(pod: UntypedObject, context: WriteContext): void {
  if (pod.metadata.annotations?.[mirror] !== undefined) return;
  const spec = ensureObject(pod, 'spec');
  if (stringOf(spec['serviceAccountName']) === '') {
    spec['serviceAccountName'] = 'default';
    // The old name of the field; both are shown.
    spec['serviceAccount'] = 'default';
  }
  const account = findAccount(pod, stringOf(spec['serviceAccountName']), context);
  if (objectsOf(spec['imagePullSecrets']).length === 0) {
    const secrets = objectsOf(account['imagePullSecrets']).map(({ name }) => ({ name }));
    if (secrets.length > 0) spec['imagePullSecrets'] = secrets;
  }
  const wantsToken = spec['automountServiceAccountToken'] ?? account['automountServiceAccountToken'] ?? true;
  if (wantsToken === true) mountToken(spec, context);
}

function findAccount(pod: UntypedObject, name: string, { objects }: WriteContext): UntypedObject {
  const { namespace = '' } = pod.metadata;
  for (const account of objects('/serviceaccounts')) {
    if (account.metadata.name === name && account.metadata.namespace === namespace) return account;
  }
  const why = `error looking up service account ${namespace}/${name}: serviceaccount ${goQuoted(name)} not found`;
  throw forbiddenObject({ group: '', plural: 'pods' }, pod.metadata.name ?? '', why);
}

/** A container that has something at the path of the token keeps it. */
function mountToken(spec: JsonObject, { random }: WriteContext): void {
  const volumes = arrayOf(spec['volumes']);
  const found = objectsOf(volumes)
    .map(({ name }) => stringOf(name))
    .find((name) => name.startsWith(volumePrefix));
  const name = found ?? `${volumePrefix}${nameSuffix(random)}`;
  let isMounted = false;
  for (const container of [...objectsOf(spec['initContainers']), ...objectsOf(spec['containers'])]) {
    const mounts = arrayOf(container['volumeMounts']);
    if (objectsOf(mounts).some((mount) => mount['mountPath'] === mountPath)) continue;
    container['volumeMounts'] = [...mounts, { name, readOnly: true, mountPath }];
    isMounted = true;
  }
  if (isMounted && found === undefined) spec['volumes'] = [...volumes, tokenVolume(name)];
}

function tokenVolume(name: string): JsonObject {
  return {
    name,
    projected: {
      sources: [
        { serviceAccountToken: { expirationSeconds: tokenSeconds, path: 'token' } },
        { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
        {
          downwardAPI: {
            items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }],
          },
        },
      ],
      defaultMode: 420,
    },
  };
}
