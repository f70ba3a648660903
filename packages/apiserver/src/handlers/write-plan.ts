import type { ObjectView } from '../resource/resource.js';
import type { ResourceCall, WriteBackend } from './call.js';
import { create } from './create.js';
import { patch } from './patch.js';
import { update } from './update.js';
import { writeView } from './view.js';
import type { Written } from './written.js';

/** Which object a request writes, and as what it is shown afterwards. */
export interface WritePlan {
  /** @throws StatusError */
  readonly write: (backend: WriteBackend, call: ResourceCall) => Promise<Written>;
  /** If absent, as itself. */
  readonly view?: ObjectView;
}

/**
 * Plan of the write by a POST, PUT or PATCH of a path; undefined if it writes no object, as for an action or a stream.
 */
export function writePlanOf({
  definition,
  path,
  request,
}: Pick<ResourceCall, 'definition' | 'path' | 'request'>): WritePlan | undefined {
  const { method } = request;
  const [name = ''] = path.subresource.split('/');
  const subresource = definition.subresources.get(name);
  if (name !== '' && subresource === undefined) return undefined;
  if (subresource?.type === 'view') {
    const { view } = subresource;
    return { view, write: (backend, call) => writeView(backend, call, view) };
  }
  const target =
    subresource === undefined
      ? { strategy: definition, subresource: '' }
      : subresource.type === 'self'
        ? { strategy: subresource.update, subresource: name }
        : undefined;
  if (target === undefined) return undefined;
  if (method === 'PUT') return { write: (backend, call) => update(backend, call, target) };
  if (method === 'PATCH') return { write: (backend, call) => patch(backend, call, target) };
  return name === '' ? { write: create } : undefined;
}
