// A registry on the loopback interface with the packed packages, so that install lines run as they are printed. Only the
// scope @kctl is asked for here; everything else comes from the registry that is configured.
import { createHash } from 'node:crypto';
import { createReadStream, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { must } from './workspace.mjs';

/** @typedef {{ name: string, version: string, file: string, bytes: number, manifest: Record<string, any> }} Packed */

/** @param {string} folder with tarballs @returns {Promise<Packed[]>} */
export async function readTarballs(folder) {
  const files = readdirSync(folder).filter((file) => file.endsWith('.tgz'));
  return await Promise.all(
    files.map(async (file) => {
      const path = join(folder, file);
      const { output } = await must('tar', ['-xOf', path, 'package/package.json']);
      const manifest = JSON.parse(output);
      return { name: manifest.name, version: manifest.version, file: path, bytes: readFileSync(path).length, manifest };
    }),
  );
}

/** @param {readonly Packed[]} packages @returns {Promise<{ url: string, stop(): Promise<void> }>} */
export async function serveRegistry(packages) {
  const byName = new Map(packages.map((entry) => [entry.name, entry]));
  const server = createServer((request, response) => {
    const path = decodeURIComponent((request.url ?? '/').split('?', 1)[0] ?? '').slice(1);
    const [name = '', tarball] = path.split('/-/');
    const entry = byName.get(name);
    if (entry === undefined) {
      response.writeHead(404).end('{}');
    } else if (tarball === undefined) {
      response.setHeader('content-type', 'application/json').end(JSON.stringify(documentOf(entry, baseUrl())));
    } else createReadStream(entry.file).pipe(response);
  });
  const baseUrl = () => {
    const address = server.address();
    return `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
  };
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  return {
    url: baseUrl(),
    stop: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

/** @param {Packed} entry @param {string} url */
function documentOf({ name, version, file, manifest }, url) {
  const content = readFileSync(file);
  const dist = {
    tarball: `${url}/${name}/-/${name.split('/')[1]}-${version}.tgz`,
    shasum: createHash('sha1').update(content).digest('hex'),
    integrity: `sha512-${createHash('sha512').update(content).digest('base64')}`,
  };
  const published = '2026-01-01T00:00:00.000Z';
  return {
    name,
    'dist-tags': { latest: version },
    time: { created: published, modified: published, [version]: published },
    versions: { [version]: { ...manifest, dist } },
  };
}
