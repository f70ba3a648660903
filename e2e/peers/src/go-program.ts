/** Commands of Go modules, built once: each by a module of one line, so that the command's own requirements decide. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { runSync } from './command.js';
import { goEnvironment, peersCache } from './go-module.js';

export interface GoProgram {
  readonly name: string;
  readonly module: string;
  readonly version: string;
  /** Import path of the command. */
  readonly command: string;
  /** Modules that the module's repository replaces by its own folders, with their published versions. @default none */
  readonly replaced?: Readonly<Record<string, string>>;
  /** @default '-s -w' */
  readonly linkerFlags?: string;
}

/** @returns the path of the program */
export function buildGoProgram({ name, module, version, command, replaced = {}, linkerFlags }: GoProgram): string {
  const program = join(peersCache, `${name}-${version}`, name);
  if (existsSync(program)) return program;
  process.stderr.write(`building ${command} ${version}\n`);
  const folder = join(dirname(program), 'module');
  mkdirSync(folder, { recursive: true });
  const lines = [
    'module kctl.local/e2e/peers/program',
    'go 1.26.0',
    `require ${module} ${version}`,
    ...Object.entries(replaced).map(([path, at]) => `replace ${path} => ${path} ${at}`),
  ];
  writeFileSync(join(folder, 'go.mod'), `${lines.join('\n')}\n`);
  const flags = ['-trimpath', '-buildvcs=false', '-ldflags', linkerFlags ?? '-s -w'];
  runSync('go', ['build', ...flags, '-o', program, command], { cwd: folder, env: goEnvironment });
  return program;
}
