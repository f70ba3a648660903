import type { UntypedObject } from '@kctl/apimachinery';
import { at, numberOf, objectsOf, stringOf, stringsOf } from '@kctl/crd/internal/engine';
import { ageColumn, nameColumn, orElse, text, type PrintedColumn } from './column.js';

const spec = (...path: readonly string[]): PrintedColumn['cell'] => {
  return (object) => stringOf(at(object, 'spec', ...path));
};

function conditionOf(object: UntypedObject, type: string): unknown {
  return objectsOf(at(object, 'status', 'conditions')).find((each) => each['type'] === type);
}

const healthy = (field: string): PrintedColumn['cell'] => {
  return (object) =>
    stringOf(
      at(
        objectsOf(object['conditions']).find((each) => each['type'] === 'Healthy'),
        field,
      ),
    );
};

const componentStatus: readonly PrintedColumn[] = [
  nameColumn,
  text(
    'Status',
    (object) => {
      const status = healthy('status')(object, 0);
      return status === 'True' ? 'Healthy' : status === '' ? '' : 'Unhealthy';
    },
    'Status of the component conditions',
  ),
  text('Message', healthy('message'), 'Message of the component conditions'),
  text('Error', healthy('error'), 'Error of the component conditions'),
];

function available(object: UntypedObject): string {
  const found = conditionOf(object, 'Available');
  if (found === undefined) return 'Unknown';
  const status = stringOf(at(found, 'status'));
  return status === 'True' ? status : `${status} (${stringOf(at(found, 'reason'))})`;
}

const apiService: readonly PrintedColumn[] = [
  nameColumn,
  text(
    'Service',
    (object) => {
      const service = at(object, 'spec', 'service');
      return service === undefined ? 'Local' : `${stringOf(at(service, 'namespace'))}/${stringOf(at(service, 'name'))}`;
    },
    'The reference to the service that hosts this API endpoint.',
  ),
  text('Available', available, 'Whether this service is available.'),
  ageColumn,
];

/** `resource.group/namespace/name`. */
function parentRef(object: UntypedObject): string {
  const [group, resource, namespace, name] = ['group', 'resource', 'namespace', 'name'].map((field) =>
    stringOf(at(object, 'spec', 'parentRef', field)),
  );
  if (resource === '') return '';
  return [`${resource}${group === '' ? '' : `.${group}`}`, ...(namespace === '' ? [] : [namespace]), name].join('/');
}

function dangling(object: UntypedObject): string {
  return orElse(at(conditionOf(object, 'Dangling'), 'status'), '?');
}

const flowSchema: readonly PrintedColumn[] = [
  nameColumn,
  text('PriorityLevel', spec('priorityLevelConfiguration', 'name')),
  text('MatchingPrecedence', (object) => numberOf(at(object, 'spec', 'matchingPrecedence')) ?? 0),
  text('DistinguisherMethod', (object) => orElse(at(object, 'spec', 'distinguisherMethod', 'type'))),
  ageColumn,
  text('MissingPL', dangling, 'references a broken or non-existent PriorityLevelConfiguration'),
];

const limited = (...path: readonly string[]): PrintedColumn['cell'] => {
  return (object) => numberOf(at(object, 'spec', 'limited', ...path)) ?? '<none>';
};

const priorityLevel: readonly PrintedColumn[] = [
  nameColumn,
  text('Type', spec('type')),
  text('NominalConcurrencyShares', limited('nominalConcurrencyShares')),
  text('Queues', limited('limitResponse', 'queuing', 'queues')),
  text('HandSize', limited('limitResponse', 'queuing', 'handSize')),
  text('QueueLengthLimit', limited('limitResponse', 'queuing', 'queueLengthLimit')),
  ageColumn,
];

function claimState(object: UntypedObject): string {
  const isDeleted = object.metadata.deletionTimestamp !== undefined;
  if (at(object, 'status', 'allocation') === undefined) return isDeleted ? 'deleted' : 'pending';
  const isReserved = objectsOf(at(object, 'status', 'reservedFor')).length > 0;
  return [...(isDeleted ? ['deleted'] : []), 'allocated', ...(isReserved ? ['reserved'] : [])].join(',');
}

const resources = 'resource.k8s.io';
const flowControl = 'flowcontrol.apiserver.k8s.io';

/** Columns of cluster resources for aggregation, addresses, flow control and devices. */
export const platformColumns: Readonly<Record<string, readonly PrintedColumn[]>> = {
  '/ComponentStatus': componentStatus,
  'apiregistration.k8s.io/APIService': apiService,
  'networking.k8s.io/IPAddress': [nameColumn, text('ParentRef', parentRef)],
  'networking.k8s.io/ServiceCIDR': [
    nameColumn,
    text('CIDRs', (object) => stringsOf(at(object, 'spec', 'cidrs')).join(',')),
    ageColumn,
  ],
  [`${flowControl}/FlowSchema`]: flowSchema,
  [`${flowControl}/PriorityLevelConfiguration`]: priorityLevel,
  [`${resources}/DeviceClass`]: [nameColumn, ageColumn],
  [`${resources}/ResourceClaimTemplate`]: [nameColumn, ageColumn],
  [`${resources}/ResourceClaim`]: [
    nameColumn,
    text('State', claimState, 'A summary of the current state (allocated, pending, reserved, etc.).'),
    ageColumn,
  ],
  [`${resources}/ResourceSlice`]: [
    nameColumn,
    text('Node', spec('nodeName')),
    text('Driver', spec('driver')),
    text('Pool', spec('pool', 'name')),
    ageColumn,
  ],
};

/** Rows of flow schemas come in the order in which they are tried. */
export function byPrecedence(a: UntypedObject, b: UntypedObject): number {
  const precedence = (object: UntypedObject): number => numberOf(at(object, 'spec', 'matchingPrecedence')) ?? 0;
  return precedence(a) - precedence(b);
}
