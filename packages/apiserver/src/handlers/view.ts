import type { UntypedObject } from '@kctl/apimachinery';
import { at, numberOf } from '@kctl/crd/engine';
import type { Decoded, ObjectView } from '../registry/resource.js';
import { badRequest, conflict, invalid } from '../registry/status.js';
import type { Reply } from '../server/api-request.js';
import { scaleColumns } from '../table/scale-columns.js';
import { convertAnew, convertVersions } from '../storage/convert-versions.js';
import { renderObject, type ObjectVersion, type Rendering } from '../storage/version.js';
import type { Admission } from './admission.js';
import { isApply, readApplication, type Application } from './apply.js';
import { applyView } from './apply-view.js';
import { readWriteBody } from './body.js';
import type { Backend, ResourceCall, WriteBackend } from './call.js';
import { retryOnLostRace } from './commit.js';
import { patchTypeOf, readPatch, undecodablePatch } from './patch.js';
import { objectReply } from './reply.js';
import { objectOwners, trackScale, withScaleOwners } from './scale-owners.js';
import { beginUpdateAdmission, checkIdentity, requirePresent, writeUpdate, type UpdateAdmission } from './update.js';
import { parseWriteOptions, reportProblems, type WriteOptions } from './write-options.js';
import type { Written } from './written.js';

/** A view of an object (a Scale) as an answer. */
export function viewReply(
  backend: Backend,
  call: ResourceCall,
  { view, rendering }: { readonly view: ObjectView; readonly rendering: Rendering },
): Promise<Reply> {
  const { kind } = view;
  const apiVersion = kind.group === '' ? kind.version : `${kind.group}/${kind.version}`;
  const definition = {
    ...call.definition,
    kind: kind.kind,
    apiVersion,
    columns: scaleColumns,
    cells: (object: UntypedObject, now: number) => scaleColumns.map((column) => column.cell(object, now)),
  };
  const shown = renderObject(view.show(rendering.object));
  return objectReply(backend, { ...call, definition }, { status: 200, rendering: shown });
}

/** GET of a view. */
export async function getView(backend: Backend, call: ResourceCall, view: ObjectView): Promise<Reply> {
  const { definition } = call;
  const present = requirePresent(backend, call);
  const converted = convertAnew(definition, present);
  if (converted !== undefined) await converted;
  return viewReply(backend, call, { view, rendering: present.in(definition) });
}

/** PUT or PATCH of a view: the object behind it changes. */
export async function writeView(backend: WriteBackend, call: ResourceCall, view: ObjectView): Promise<Written> {
  const isPatch = call.request.method === 'PATCH';
  const isApplied = isPatch && isApply(call);
  const patchType = isPatch && !isApplied ? patchTypeOf(call) : '';
  const options = parseWriteOptions(call, isPatch ? 'PatchOptions' : 'UpdateOptions');
  const application = isApplied ? await readApplication(call) : undefined;
  const make = isApplied ? asItIs : isPatch ? await readPatch(call, patchType) : await bodyAsView(call, view, options);
  using admission = beginUpdateAdmission(backend, call, { target: { subresource: 'scale' }, options });
  const rendering = await retryOnLostRace(
    () => writeViewOnce(backend, call, { view, options, make, application, admission }),
    admission?.signal,
  );
  return { status: 200, rendering };
}

function asItIs(shown: unknown): unknown {
  return shown;
}

async function bodyAsView(call: ResourceCall, view: ObjectView, options: WriteOptions): Promise<() => unknown> {
  const body = await readWriteBody(call);
  reportProblems(call, body.duplicates, options.fieldValidation);
  checkIdentity(call, view.decode({ value: structuredClone(body.value) }).object);
  return () => body.value;
}

function decodeView({ request }: ResourceCall, view: ObjectView, value: unknown): Decoded {
  try {
    return view.decode({ value: structuredClone(value) });
  } catch (error) {
    throw request.method === 'PATCH' ? undecodablePatch(error, value) : error;
  }
}

interface ViewStep {
  readonly view: ObjectView;
  readonly options: WriteOptions;
  /** The wanted view, from that which is shown. */
  readonly make: (shown: unknown) => unknown;
  /** A configuration to apply instead. */
  readonly application: Application | undefined;
  readonly admission: Admission | undefined;
}

async function writeViewOnce(backend: WriteBackend, call: ResourceCall, step: ViewStep): Promise<Rendering> {
  const { view, options, make, application, admission } = step;
  const { definition, path } = call;
  const present: ObjectVersion = requirePresent(backend, call);
  const converted = convertVersions(definition, [present]);
  if (converted !== undefined) await converted;
  const { object } = present.in(definition);
  let isStamped = false;
  const onStamp = (): void => void (isStamped = true);
  const write = { definition, view, object, manager: options.fieldManager, onStamp };
  const applied = application && applyView(backend, write, application);
  const value = structuredClone(applied === undefined ? make(view.show(object, true)) : applied.object);
  const { object: decoded, problems } = decodeView(call, view, value);
  reportProblems(call, problems, options.fieldValidation);
  const owners = applied === undefined ? trackScale(backend, write, decoded) : applied.owners;
  const wanted =
    admission === undefined
      ? decoded
      : await admission.admit({
          name: path.name,
          object: withScaleOwners(decoded, owners.after),
          oldObject: withScaleOwners(view.show(object, true), owners.before),
          isStamped,
        });
  const { name = '', resourceVersion = '' } = wanted.metadata;
  if (name !== '' && name !== path.name)
    throw badRequest(`the name of the object (${name}) does not match the name on the URL (${path.name})`);
  if (resourceVersion !== '' && resourceVersion !== String(present.revision)) throw conflict(definition, path.name);
  const errors = view.validate(wanted);
  if (errors.length > 0) throw invalid({ group: view.kind.group, kind: view.kind.kind }, path.name, errors);
  const next = structuredClone(view.write(wanted, object));
  next.metadata.resourceVersion = String(present.revision);
  const entries = objectOwners(backend, write, owners.after);
  if (entries === undefined) delete next.metadata.managedFields;
  else next.metadata.managedFields = entries;
  return writeUpdate(backend, call, {
    object: next,
    present,
    target: { strategy: definition, subresource: 'scale' },
    options,
    isTracked: true,
    admission: admission && asView(admission, view),
  });
}

/** The validating pass sees what the object has become, as the view shows it. The mutating pass is over. */
function asView(admission: Admission, view: ObjectView): UpdateAdmission {
  return {
    admit: ({ object }) => Promise.resolve(object),
    validate: ({ name, object, oldObject }) =>
      admission.validate({
        name,
        ...(object !== undefined && { object: shownToValidate(view, object) }),
        ...(oldObject !== undefined && { oldObject: shownToValidate(view, oldObject) }),
      }),
  };
}

/** Replicas that an object does not have count as 0. */
function shownToValidate(view: ObjectView, object: UntypedObject): UntypedObject {
  const shown = view.show(object, true);
  return (numberOf(at(shown, 'spec', 'replicas')) ?? 0) < 0 ? { ...shown, spec: {} } : shown;
}
