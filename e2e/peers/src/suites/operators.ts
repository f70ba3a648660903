/** Operators of other people, unmodified: each does its work, step by step. */
import type { Group, SuiteResult, TargetName } from '../result.js';
import { startPeer } from '../server.js';
import { certManager } from '../operators/cert-manager.js';
import { clusterApi } from '../operators/cluster-api.js';
import { prometheusOperator } from '../operators/prometheus.js';
import { Stage } from '../operators/stage.js';

const all = [clusterApi, prometheusOperator, certManager] as const;

export async function operators(
  target: TargetName,
  { only }: { readonly only: readonly string[] },
): Promise<SuiteResult> {
  const groups: Group[] = [];
  for (const operator of all.filter(({ name }) => only.length === 0 || only.includes(name))) {
    const name = `${operator.name} ${operator.version}`;
    console.log(name);
    await using peer = await startPeer(target);
    await using stage = new Stage(peer);
    const started = performance.now();
    try {
      await operator.play(stage);
    } catch (error) {
      console.log(`${String(error)}\n${await stage.logs(40)}`);
      stage.abandon(error);
    }
    groups.push(stage.group(name, Math.round((performance.now() - started) / 100) / 10));
  }
  return { suite: 'operators', target, version: '', groups };
}
