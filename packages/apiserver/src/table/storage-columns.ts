import type { UntypedObject } from '@kctl/apimachinery';
import { at, objectsOf, stringOf, stringsOf } from '@kctl/crd/internal/engine';
import { ageColumn, flag, integer, nameColumn, orElse, text, wide, type PrintedColumn } from './column.js';

const modes: readonly [mode: string, short: string][] = [
  ['ReadWriteOnce', 'RWO'],
  ['ReadOnlyMany', 'ROX'],
  ['ReadWriteMany', 'RWX'],
  ['ReadWriteOncePod', 'RWOP'],
];

function accessModes(value: unknown): string {
  const given = stringsOf(value);
  return modes
    .filter(([mode]) => given.includes(mode))
    .map(([, short]) => short)
    .join(',');
}

function phase(object: UntypedObject): string {
  if (object.metadata.deletionTimestamp !== undefined) return 'Terminating';
  return stringOf(at(object, 'status', 'phase'));
}

function spec(...path: readonly string[]): PrintedColumn['cell'] {
  return (object) => stringOf(at(object, 'spec', ...path));
}

function className(object: UntypedObject): string {
  const annotation = object.metadata.annotations?.['volume.beta.kubernetes.io/storage-class'];
  return annotation ?? stringOf(at(object, 'spec', 'storageClassName'));
}

const attributesClass = (of: string): PrintedColumn =>
  text(
    'VolumeAttributesClass',
    (object) => orElse(at(object, 'spec', 'volumeAttributesClassName'), '<unset>'),
    `VolumeAttributesClass of the ${of}`,
  );

const volumeMode = wide(text('VolumeMode', (object) => orElse(at(object, 'spec', 'volumeMode'), '<unset>')));

function isBound(object: UntypedObject): boolean {
  return stringOf(at(object, 'spec', 'volumeName')) !== '';
}

const defaults = ['storageclass.kubernetes.io/is-default-class', 'storageclass.beta.kubernetes.io/is-default-class'];

/** Columns of volumes, claims and classes. */
export const storageColumns: Readonly<Record<string, readonly PrintedColumn[]>> = {
  '/PersistentVolume': [
    nameColumn,
    text('Capacity', (object) => orElse(at(object, 'spec', 'capacity', 'storage'), '0')),
    text('Access Modes', (object) => accessModes(at(object, 'spec', 'accessModes'))),
    text('Reclaim Policy', spec('persistentVolumeReclaimPolicy')),
    text('Status', phase),
    text('Claim', (object) => {
      const claim = at(object, 'spec', 'claimRef');
      return claim === undefined ? '' : `${stringOf(at(claim, 'namespace'))}/${stringOf(at(claim, 'name'))}`;
    }),
    text('StorageClass', className, 'StorageClass of the pv'),
    attributesClass('pv'),
    text('Reason', (object) => stringOf(at(object, 'status', 'reason'))),
    ageColumn,
    volumeMode,
  ],
  '/PersistentVolumeClaim': [
    nameColumn,
    text('Status', phase),
    text('Volume', spec('volumeName')),
    text('Capacity', (object) => (isBound(object) ? orElse(at(object, 'status', 'capacity', 'storage'), '0') : '')),
    text('Access Modes', (object) => (isBound(object) ? accessModes(at(object, 'status', 'accessModes')) : '')),
    text('StorageClass', className, 'StorageClass of the pvc'),
    attributesClass('pvc'),
    ageColumn,
    volumeMode,
  ],
  'storage.k8s.io/StorageClass': [
    {
      ...nameColumn,
      cell: ({ metadata: { name = '', annotations = {} } }) =>
        defaults.some((key) => annotations[key] === 'true') ? `${name} (default)` : name,
    },
    text('Provisioner', (object) => stringOf(object['provisioner'])),
    text('ReclaimPolicy', (object) => orElse(object['reclaimPolicy'], 'Delete')),
    text('VolumeBindingMode', (object) => orElse(object['volumeBindingMode'], 'Immediate')),
    text('AllowVolumeExpansion', (object) => object['allowVolumeExpansion'] === true),
    ageColumn,
  ],
  'storage.k8s.io/VolumeAttributesClass': [
    nameColumn,
    text('DriverName', (object) => stringOf(object['driverName'])),
    ageColumn,
  ],
  'storage.k8s.io/VolumeAttachment': [
    nameColumn,
    { ...text('Attacher', spec('attacher')), format: 'name' },
    text('PV', spec('source', 'persistentVolumeName')),
    text('Node', spec('nodeName')),
    flag('Attached', (object) => at(object, 'status', 'attached') === true),
    ageColumn,
  ],
  'storage.k8s.io/CSINode': [
    nameColumn,
    integer(
      'Drivers',
      (object) => objectsOf(at(object, 'spec', 'drivers')).length,
      'Drivers indicates the number of CSI drivers registered on the node',
    ),
    ageColumn,
  ],
  'storage.k8s.io/CSIDriver': [
    nameColumn,
    flag('AttachRequired', (object) => at(object, 'spec', 'attachRequired') !== false),
    flag('PodInfoOnMount', (object) => at(object, 'spec', 'podInfoOnMount') === true),
    flag('StorageCapacity', (object) => at(object, 'spec', 'storageCapacity') === true),
    text('TokenRequests', (object) => {
      const audiences = objectsOf(at(object, 'spec', 'tokenRequests')).map((each) => stringOf(each['audience']));
      return audiences.length === 0 ? '<unset>' : audiences.join(',');
    }),
    flag('RequiresRepublish', (object) => at(object, 'spec', 'requiresRepublish') === true),
    text('Modes', (object) => orElse(stringsOf(at(object, 'spec', 'volumeLifecycleModes')).join(','))),
    ageColumn,
  ],
};
