import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
                                                        
import { compilePrograms } from './programs.js';

const execute = promisify(execFile);
const root = join(import.meta.dirname, '..', '..', '..');
const cache = join(root, '.cache', 'bench');

/** A TypeScript program of this workspace, on this Node, with the built packages. */
export function nodeSubject(name        , program        , fixedArgs                   , packageName        )          {
  const run = ['--import', join(root, 'scripts', 'typescript.mjs'), join(root, 'bench', 'src', program), ...fixedArgs];
  return onNode(name, packageName, () => run);
}

/** The same, compiled before: for what measures memory or a start. `flags` are Node's. */
export function compiledSubject(name        , program        , flags                   , packageName        )          {
  const run = ()           => [...flags, join(compilePrograms(root), program.replace(/\.ts$/, '.js'))];
  return onNode(name, packageName, run);
}

/**
 * The same as one file, as `kctl build` writes it and as the image that `npm create @kctl` makes runs it. The source map is
 * left out: that of an operator's own files is small, and the packages of this workspace would count as such.
 */
export function bundledSubject(name        , program        , packageName        )          {
  const subject = compiledSubject(name, program, ['--enable-source-maps'], packageName);
  return {
    name,
    prepare: async ()                    => {
      const prepared = await subject.prepare();
      if ('skipped' in prepared) return prepared;
      const { build } = await import('esbuild');
      const compiled = prepared.command.at(-1) ?? '';
      const outfile = join(root, 'bench', '.cache', 'bundles', program.replace(/\.ts$/, '.mjs'));
      await build({
        entryPoints: [compiled],
        outfile,
        bundle: true,
        platform: 'node',
        format: 'esm',
        target: 'node22',
        minifyWhitespace: true,
        minifySyntax: true,
        external: ['@kctl/kubeconfig'],
        logLevel: 'error',
        banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
      });
      return { ...prepared, command: [...prepared.command.slice(0, -1), outfile] };
    },
  };
}

function onNode(name        , packageName        , run                         )          {
  return {
    name,
    prepare: () => {
      const manifest = join(root, 'bench', 'node_modules', packageName, 'package.json');
      if (!existsSync(manifest)) return Promise.resolve({ skipped: `${packageName} is not installed` });
      const { version, main, exports } = JSON.parse(readFileSync(manifest, 'utf8'))                           ;
      const isOurs = packageName.startsWith('@kctl/');
      if (isOurs && !existsSync(join(root, 'bench', 'node_modules', packageName, 'dist', 'index.js')))
        throw new Error(`${packageName} is not built: run \`pnpm build\` first (${String(main ?? exports)})`);
      const command = [process.execPath, '--expose-gc', ...run()];
      return Promise.resolve({ command, version: `${String(version)} on Node ${process.versions.node}` });
    },
  };
}

/** A Go program of `bench/peers/go`. `modules` are those whose versions are told. */
export function goSubject(
  name        ,
  program        ,
  fixedArgs                   ,
  modules                   ,
)          {
  return {
    name,
    prepare: async ()                    => {
      const cwd = join(root, 'bench', 'peers', 'go');
      const binary = join(cache, `go-${program}`);
      const go = (...args          )                              => execute('go', args, { cwd, timeout: 900_000 });
      let goVersion        ;
      try {
        goVersion = (await go('env', 'GOVERSION')).stdout.trim();
      } catch {
        return { skipped: 'Go is not installed' };
      }
      mkdirSync(cache, { recursive: true });
      await go('build', '-o', binary, `./${program}`);
      const { stdout } = await go('list', '-m', '-f', '{{.Path}} {{.Version}}', ...modules);
      return { command: [binary, ...fixedArgs], version: `${stdout.trim().split('\n').join(', ')} on ${goVersion}` };
    },
  };
}

/** A Rust program of `bench/peers/rust`. `crates` are those whose versions are told. */
export function rustSubject(
  name        ,
  program        ,
  fixedArgs                   ,
  crates                   ,
)          {
  return {
    name,
    prepare: async ()                    => {
      const cwd = join(root, 'bench', 'peers', 'rust');
      const target = join(cache, 'rust');
      const run = (command        , ...args          )                              =>
        execute(command, args, { cwd, timeout: 1_800_000 });
      let rustVersion        ;
      try {
        rustVersion = (await run('rustc', '--version')).stdout.trim().split(' ').slice(0, 2).join(' ');
        await run('cargo', '--version');
      } catch {
        return { skipped: 'Rust is not installed' };
      }
      await run('cargo', 'build', '--release', '--locked', '--quiet', '--target-dir', target, '--bin', program);
      const versions           = [];
      for (const crate of crates) {
        const { stdout } = await run('cargo', 'pkgid', '--locked', crate);
        versions.push(`${crate} ${stdout.trim().split(/[@#]/).at(-1) ?? ''}`);
      }
      const command = [join(target, 'release', program), ...fixedArgs];
      return { command, version: `${versions.join(', ')} on ${rustVersion}` };
    },
  };
}
