import { at, objectsOf } from '@kctl/crd/internal/engine';
import { clusterRoleTable } from '../authorization/rbac/binding-index.js';
import type { Backend } from '../handlers/call.js';
import { selectorMatches } from '../resource/label-selector.js';
import { isDeepEqual } from '../json/equality.js';
import type { InnerController } from './inner-controller.js';
import { createWorkSet } from './work-set.js';

/** Gathers the rules of aggregated ClusterRoles from those that their selectors match, as kube-controller-manager does. */
export function createAggregationController({ store }: Backend): InnerController {
  const work = createWorkSet<string>();
  const all = (): void => {
    for (const [name, { object }] of store.table(clusterRoleTable).scan({}))
      if (selectorsOf(object).length > 0) work.add(name);
  };
  return {
    observe({ table }) {
      if (table === clusterRoleTable) all();
    },
    resync: all,
    step() {
      const name = work.take();
      if (name === undefined) return false;
      const present = store.table(clusterRoleTable).get(name);
      if (present === undefined || present.object.metadata.deletionTimestamp !== undefined) return true;
      const rules: unknown[] = [];
      for (const selector of selectorsOf(present.object)) {
        for (const [other, { object }] of store.table(clusterRoleTable).scan({})) {
          if (other === name || !selectorMatches(selector, object.metadata.labels ?? {})) continue;
          for (const rule of objectsOf(object['rules']))
            if (!rules.some((known) => isDeepEqual(known, rule))) rules.push(rule);
        }
      }
      const old = objectsOf(present.object['rules']);
      const isSame = old.length === rules.length && isDeepEqual(old, rules);
      if (!isSame)
        store.commit({
          table: clusterRoleTable,
          key: name,
          expected: present.revision,
          object: { ...present.object, rules },
        });
      return true;
    },
  };
}

function selectorsOf(role: object): ReturnType<typeof objectsOf> {
  return objectsOf(at(role, 'aggregationRule', 'clusterRoleSelectors'));
}
