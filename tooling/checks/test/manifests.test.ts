// What users see of a package before they install it, and what an installation brings.
import { globSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..', '..', '..');

interface Manifest {
  readonly name: string;
  readonly keywords?: readonly string[];
  readonly homepage?: string;
  readonly bugs?: string;
  readonly repository?: { readonly directory?: string };
  readonly engines?: { readonly node?: string };
  readonly files?: readonly string[];
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly funding?: unknown;
}

const manifests = globSync('packages/*/package.json', { cwd: root }).map((file) => {
  const manifest = JSON.parse(readFileSync(join(root, file), 'utf8')) as Manifest;
  return [basename(dirname(file)), manifest] as const;
});

describe.each(manifests)('%s', (folder, manifest) => {
  it('can be found, and leads back to its source', () => {
    expect(manifest.keywords).toContain('kubernetes');
    expect(manifest.keywords?.length).toBeGreaterThanOrEqual(3);
    expect(manifest.homepage).toBe(`https://github.com/kctl-dev/kctl/tree/main/packages/${folder}#readme`);
    expect(manifest.bugs).toBe('https://github.com/kctl-dev/kctl/issues');
    expect(manifest.repository?.directory).toBe(`packages/${folder}`);
    expect(manifest.engines?.node).toBe('>=22.19');
    expect(manifest.funding).toBeUndefined();
  });

  it('has a README that names the Node that it needs', () => {
    const version = manifest.engines?.node?.replace('>=', '');
    const text = readFileSync(join(root, 'packages', folder, 'README.md'), 'utf8');
    const [, line] = /^```sh\nnpm install .+\n```\n\n(.*)$/m.exec(text) ?? [];
    expect(line).toBe(`Node ${version} or newer.`);
  });

  it('publishes no build information', () => {
    expect(manifest.files).toContain('!dist/tsconfig.tsbuildinfo');
  });
});

/** Third-party packages that `npm install @kctl/<name>` brings at most. */
const limits: Readonly<Record<string, number>> = {
  apimachinery: 0,
  builder: 12,
  cache: 0,
  'cache-index': 0,
  client: 0,
  'client-delegating': 0,
  'client-http': 1,
  controller: 1,
  events: 0,
  informer: 0,
  'leader-election': 0,
  manager: 12,
  webhook: 6,
  wait: 0,
  workqueue: 0,
};

describe('third-party packages', () => {
  const installed = thirdParty(readFileSync(join(root, 'pnpm-lock.yaml'), 'utf8'));

  it.each(Object.entries(limits))('%s brings at most %i', (name, limit) => {
    const names = installed(name);
    expect(names.length, names.join(', ')).toBeLessThanOrEqual(limit);
  });

  const known = new Set(
    manifests
      .flatMap(([folder]) => installed(folder))
      .map((name) => name.replace(/(?<=.)@.*$/, ''))
      .concat('yaml'),
  );
  const withSection = manifests.flatMap(([folder, { dependencies = {} }]) => {
    const text = readFileSync(join(root, 'packages', folder, 'README.md'), 'utf8');
    const found =
      /^(?:## (?:Runtime d|D)ependencies$|.*[Rr]untime dependenc(?:y|ies)\b.*$)[^]*?(?=^## |$(?![^]))/m.exec(text)?.[0];
    const direct = Object.keys(dependencies).filter((name) => !name.startsWith('@kctl/'));
    return found === undefined && direct.length === 0 ? [] : [[folder, direct, found ?? ''] as const];
  });

  it.each(withSection)('%s: its README lists those that it brings', (folder, direct, section) => {
    const named = [...section.matchAll(/`([^`\s]+)`/g)].map(([, name = '']) => name);
    for (const name of direct) expect(named.join(' ')).toContain(name);
    const brought = installed(folder).map((name) => name.replace(/(?<=.)@.*$/, ''));
    expect(named.filter((name) => known.has(name) && !brought.includes(name))).toEqual([]);
  });

  it('counts what is there', () => {
    expect(installed('client-http')).toEqual(['undici@8']);
    expect(installed('kubeconfig').length).toBeGreaterThan(40);
  });
});

/** Reads of a lock file what its packages bring; entries of a snapshot are `name: version` lines, indented by six. */
function thirdParty(lock: string): (name: string) => string[] {
  const sections = new Map(
    lock.split(/^(?=\w)/m).map((section) => [section.slice(0, section.indexOf(':')), section] as const),
  );
  const importers = blocks(sections.get('importers') ?? '');
  const snapshots = blocks(sections.get('snapshots') ?? '');
  const ownDependencies = (name: string): (readonly [string, string])[] =>
    [
      ...(part(importers.get(`packages/${name}`), 'dependencies') ?? '').matchAll(
        /^ {6}'?([^\s:']+)'?:\n(?: {8}.*\n)*? {8}version: (\S+)$/gm,
      ),
    ].map(([, other = '', version = '']) => [other, version] as const);
  return (name) => {
    const found = new Set<string>();
    const seen = new Set<string>();
    const walk = (key: string): void => {
      if (found.has(key)) return;
      found.add(key);
      for (const section of ['dependencies', 'optionalDependencies'])
        for (const [, other = '', version = ''] of (part(snapshots.get(key), section) ?? '').matchAll(
          /^ {6}'?([^\s:']+)'?: (\S+)$/gm,
        ))
          walk(`${other}@${version}`);
    };
    const own = (package_: string): void => {
      if (seen.has(package_)) return;
      seen.add(package_);
      for (const [other, version] of ownDependencies(package_))
        if (version.startsWith('link:')) own(other.replace('@kctl/', ''));
        else walk(`${other}@${version}`);
    };
    own(name);
    return [...found].map((key) => key.replace(/(?<=.)@(\d+)[^@]*$/, '@$1')).sort();
  };
}

/** The blocks of a section by their keys, which are indented by two. */
function blocks(section: string): Map<string, string> {
  return new Map(
    section
      .split(/^(?= {2}\S)/m)
      .slice(1)
      .map(
        (block) =>
          [
            block.slice(2, block.indexOf(':\n') < 0 ? undefined : block.indexOf(':\n')).replaceAll("'", ''),
            block,
          ] as const,
      ),
  );
}

/** The lines below one key of a block, which is indented by four. */
function part(block: string | undefined, key: string): string | undefined {
  return new RegExp(`^ {4}${key}:\\n((?: {6,}.*\\n)*)`, 'm').exec(block ?? '')?.[1];
}
