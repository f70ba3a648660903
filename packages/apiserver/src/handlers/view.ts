import { isStatusError, type UntypedObject } from '@kctl/apimachinery';
import { at, numberOf } from '@kctl/crd/internal/engine';
import type { Decoded, ObjectView, ResourceDefinition } from '../resource/resource.js';
import { badRequest, conflict, invalid, strictDecodingError } from '../protocol/status.js';
import type { Reply } from '../protocol/api-request.js';
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
import {
  beginUpdateAdmission,
  checkIdentity,
  checkUid,
  requirePresent,
  writeUpdate,
  type UpdateAdmission,
} from './update.js';
import { parseWriteOptions, reportProblems, type FieldValidation, type WriteOptions } from './write-options.js';
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

/** Handles PUT or PATCH of a view, which changes the object behind it. */
export async function writeView(backend: WriteBackend, call: ResourceCall, view: ObjectView): Promise<Written> {
  const isPatch = call.request.method === 'PATCH';
  const isApplied = isPatch && isApply(call);
  const patchType = isPatch && !isApplied ? patchTypeOf(call) : '';
  const options = parseWriteOptions(call, isPatch ? 'PatchOptions' : 'UpdateOptions');
  const application = isApplied ? await readApplication(call, () => void requirePresent(backend, call)) : undefined;
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
  const { body, given } = await readView(call, view);
  reportProblems(call, body.duplicates, options.fieldValidation);
  checkIdentity(call, given);
  return () => body.value;
}

/** @throws StatusError 400 */
async function readView(
  call: ResourceCall,
  view: ObjectView,
): Promise<{ body: Awaited<ReturnType<typeof readWriteBody>>; given: UntypedObject }> {
  try {
    const body = await readWriteBody(call);
    return { body, given: view.decode({ ...body, value: structuredClone(body.value) }).object };
  } catch (error) {
    if (!call.definition.isCustom || !isStatusError(error) || error.status.code !== 400) throw error;
    // Upstream's server of custom resources finds no name for the type that it cannot read.
    throw badRequest('no kind is registered for the type v1.Scale in scheme "pkg/runtime/scheme.go:111"');
  }
}

function decodeView({ request }: ResourceCall, view: ObjectView, value: unknown): Decoded {
  try {
    return view.decode({ value: structuredClone(value) });
  } catch (error) {
    throw request.method === 'PATCH' ? undecodablePatch(error, value) : error;
  }
}

/** As upstream, a view is refused by its own kind, for which the scheme of custom resources has none. @throws StatusError 400 */
function refuseProblems(
  { isCustom }: ResourceDefinition,
  { kind }: ObjectView,
  { problems, mode }: { readonly problems: readonly string[]; readonly mode: FieldValidation },
): void {
  if (mode !== 'Strict' || problems.length === 0) return;
  if (isCustom) throw badRequest('no kind is registered for the type v1.Scale in scheme "pkg/runtime/scheme.go:111"');
  throw strictDecodingError(kind, problems);
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
  if (call.request.method === 'PUT') refuseProblems(definition, view, { problems, mode: options.fieldValidation });
  reportProblems(call, problems, options.fieldValidation);
  checkIdentity(call, decoded);
  if (call.request.method === 'PUT') checkUid(call, decoded, present);
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
  // Changes of name and namespace by a webhook are lost with the view, unless its validation refuses them.
  const errors = view.validate(wanted);
  if (errors.length > 0) throw invalid({ group: view.kind.group, kind: view.kind.kind }, path.name, errors);
  if (!definition.isCustom) checkUidOfView(call, wanted, object);
  const next = structuredClone(view.write(wanted, object));
  const { resourceVersion = '' } = wanted.metadata;
  if (resourceVersion !== '' && resourceVersion !== String(present.revision)) throw conflict(definition, path.name);
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

/** @throws StatusError 409 if a view of a built-in kind has another uid than its object */
function checkUidOfView({ definition, path }: ResourceCall, view: UntypedObject, object: UntypedObject): void {
  const { uid = '' } = view.metadata;
  const { uid: actual = '' } = object.metadata;
  if (uid === '' || uid === actual) return;
  const resource = { group: definition.group, plural: `${definition.plural}/scale` };
  throw conflict(
    resource,
    path.name,
    `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${actual}`,
  );
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
