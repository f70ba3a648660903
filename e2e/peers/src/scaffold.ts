/** A project as `npm create @kctl` makes it, where the packages of this workspace resolve, with its manifests. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runKctl } from '@kctl/cli';
import { createProject } from '@kctl/create';
import { parseAllDocuments } from 'yaml';

/** An object of a manifest. */
export interface ManifestObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec?: unknown;
}

export interface Scaffold extends Disposable {
  readonly name: string;
  readonly folder: string;
  /** The generated manifests. */
  readonly deploy: string;
  kctl(...given: readonly string[]): Promise<{ readonly code: number; readonly output: string }>;
}

/** Makes a project; with `hasWebhook` its kind has a validating webhook. */
export async function scaffold(name: string, { hasWebhook = false } = {}): Promise<Scaffold> {
  const cache = join(import.meta.dirname, '..', '.cache');
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, `${name}-`));
  createProject({ folder, name, group: 'example.com', kind: 'Greeting' });
  if (hasWebhook) addWebhook(join(folder, 'src', 'controllers', 'greeting.ts'));
  const kctl = async (...given: readonly string[]): Promise<{ code: number; output: string }> => {
    let output = '';
    const write = (text: string): void => void (output += text);
    const signal = new AbortController().signal;
    const code = await runKctl({ cwd: folder, environment: {}, out: write, err: write, signal }, given);
    return { code, output };
  };
  const generated = await kctl('generate');
  if (generated.code !== 0) throw new Error(generated.output);
  const dispose = (): void => rmSync(folder, { recursive: true, force: true });
  return { name, folder, deploy: join(folder, 'deploy'), kctl, [Symbol.dispose]: dispose };
}

function addWebhook(file: string): void {
  const text = readFileSync(file, 'utf8')
    .replace('import { controllerManagedBy,', 'import { controllerManagedBy, webhookManagedBy,')
    .replace(
      /\}\n$/,
      '  webhookManagedBy(manager).for(Greeting).withValidator({ validateCreate: () => undefined }).complete();\n}\n',
    );
  writeFileSync(file, text);
}

/** The objects of a YAML stream. */
export function objectsIn(text: string): ManifestObject[] {
  return parseAllDocuments(text).flatMap((document) => {
    const value: unknown = document.toJS();
    return isObject(value) ? [value] : [];
  });
}

function isObject(value: unknown): value is ManifestObject {
  return typeof value === 'object' && value !== null && 'kind' in value && 'metadata' in value;
}
