/** The documents of long definitions are made in another thread: 1 MB takes 50 ms in each form. */
import { isObject } from '@kctl/crd/internal/engine';
import { parseJsonFast } from '../../json/strict-json.js';
import { definitionsOfCrd } from '../../crd/crd-definition.js';
import { isStoredObject } from '../../storage/log-files.js';
import { readBuiltinDocuments } from './builtin-documents.js';
import { fragmentV2, fragmentV3 } from './custom-documents.js';
import type { Fragment, FragmentJob, FragmentV2 } from '../../offload/fragment.js';
import { readCustomTexts, type CustomTexts } from './custom-texts.js';
import { encodeOpenApiV3 } from './protobuf-v3.js';

let texts: Promise<CustomTexts> | undefined;

function readTexts(): Promise<CustomTexts> {
  texts ??= readBuiltinDocuments().then(({ sample }) => readCustomTexts(sample));
  return texts;
}

async function inputsOf({ crd: text, version }: FragmentJob): Promise<Parameters<typeof fragmentV3>> {
  const crd = parseJsonFast(text);
  if (!isStoredObject(crd)) throw new TypeError('the job holds no CustomResourceDefinition');
  const definition = definitionsOfCrd(crd).find((each) => each.version === version);
  if (definition === undefined) throw new RangeError(`version ${JSON.stringify(version)} is not served`);
  return [definition, crd, await readTexts()];
}

/** The part of an OpenAPI v3 document. */
export async function performV3(job: FragmentJob<'v3'>): Promise<Fragment> {
  return fragmentV3(...(await inputsOf(job)));
}

/** The part of the OpenAPI v2 document. */
export async function performV2(job: FragmentJob<'v2'>): Promise<FragmentV2> {
  return fragmentV2(...(await inputsOf(job)));
}

/** An OpenAPI v3 document in protobuf. */
export async function encodeDocument(text: string): Promise<Uint8Array> {
  const value: unknown = JSON.parse(text);
  return encodeOpenApiV3(isObject(value) ? value : {});
}
