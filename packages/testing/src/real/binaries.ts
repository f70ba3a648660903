import { execFile } from 'node:child_process';
import { access, constants } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { booleanOption, requireOptions, type OptionNames } from '@kctl/options';
import { NoBinariesError } from './errors.js';

/** Paths of the programs of a real API server. */
export interface ApiServerBinaries {
  readonly kubeApiserver: string;
  readonly etcd: string;
  /** Needed only with `controllerManager: true`. */
  readonly kubeControllerManager?: string;
  /** Version of kube-apiserver, e.g. `v1.36.3`. @default that of the binary */
  readonly version?: string;
}

const optionNames: OptionNames<{ readonly controllerManager?: boolean }> = { controllerManager: booleanOption };

/**
 * The binaries that the environment names, by envtest's variables: `TEST_ASSET_KUBE_APISERVER`, `TEST_ASSET_ETCD`
 * (files) and `KUBEBUILDER_ASSETS` (a folder); `TEST_ASSET_KUBE_CONTROLLER_MANAGER` likewise.
 *
 * @throws NoBinariesError naming what is missing
 */
export async function findBinaries(options: { readonly controllerManager?: boolean } = {}): Promise<ApiServerBinaries> {
  requireOptions('findBinaries', options, optionNames);
  const kubeApiserver = await given('kube-apiserver');
  const etcd = await given('etcd');
  return options.controllerManager === true
    ? { kubeApiserver, etcd, kubeControllerManager: await given('kube-controller-manager') }
    : { kubeApiserver, etcd };
}

/** Output of `kube-apiserver --version`, e.g. `v1.36.3`. */
export async function versionOf(kubeApiserver: string): Promise<string> {
  const { stdout } = await promisify(execFile)(kubeApiserver, ['--version']);
  return stdout.trim().split(' ').at(-1) ?? 'unknown';
}

async function given(name: string): Promise<string> {
  const variable = `TEST_ASSET_${name.toUpperCase().replaceAll('-', '_')}`;
  const file = process.env[variable];
  const folder = process.env['KUBEBUILDER_ASSETS'];
  const path =
    file !== undefined && file !== '' ? file : folder === undefined || folder === '' ? undefined : join(folder, name);
  if (path === undefined) {
    throw new NoBinariesError(
      `no ${name}: set KUBEBUILDER_ASSETS to a folder with the binaries, ${variable} to the file, or pass { binaries }`,
    );
  }
  const isExecutable = await access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
  if (!isExecutable)
    throw new NoBinariesError(
      `${file === path ? variable : 'KUBEBUILDER_ASSETS'} is set, but ${path} is not an executable file`,
    );
  return path;
}
