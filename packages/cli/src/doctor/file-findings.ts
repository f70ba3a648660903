import { existsSync } from 'node:fs';
import type { OperatorGraph } from '@kctl/operator';
import { compareFiles } from '../manifests/compare-files.js';
import { fileGroups, generateFiles } from '../manifests/generate-files.js';
import { shownPath, type Project } from '../project.js';
import type { Finding } from './finding.js';
import { ownCommand } from '../own-command.js';

const check = 'files';

/** Checks whether generated files match the current code. */
export function fileFindings(project: Project, graph: OperatorGraph): Finding[] {
  const shown = shownPath(project.folder, project.output);
  if (!existsSync(project.output))
    return [{ check, status: 'warning', message: `${shown} does not exist: run ${ownCommand('generate')}` }];
  const { image, version } = project;
  const files = generateFiles({ graph, image, version }, fileGroups);
  const { written, removed } = compareFiles(project.output, files, fileGroups);
  const stale = [...written, ...removed].length;
  if (stale === 0) return [{ check, status: 'ok', message: `${shown} is what the code says` }];
  const message = `${stale} ${stale === 1 ? 'file' : 'files'} in ${shown} are out of date: run ${ownCommand('generate')}, which names them`;
  return [{ check, status: 'warning', message }];
}
