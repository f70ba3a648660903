import { existsSync, lstatSync, mkdirSync, symlinkSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Links a kubeconfig from a path below `node_modules` that is the same at each start, so that a shell keeps its
 * KUBECONFIG. The keys stay in the temporary folder and are removed with it. Returns the path of the link, or of the
 * file itself if another run has the link, or none can be made.
 */
export function linkKubeconfig(project: string, kubeconfig: string): string {
  const modules = join(project, 'node_modules');
  const folder = join(modules, '.cache', 'kctl');
  const link = join(folder, 'kubeconfig');
  // Of a run that goes on.
  if (!existsSync(modules) || existsSync(link)) return kubeconfig;
  try {
    mkdirSync(folder, { recursive: true });
    if (lstatSync(link, { throwIfNoEntry: false })?.isSymbolicLink() === true) unlinkSync(link);
    symlinkSync(kubeconfig, link);
    return link;
  } catch {
    return kubeconfig;
  }
}
