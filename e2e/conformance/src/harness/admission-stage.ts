/** What cases about admission begin with. */
import type { Context } from './context.js';
import { startHook, transcript, type Hook, type Transcript } from './hook.js';
import type { WidgetApi } from './widgets.js';

/** A namespace, the custom resource that most cases use, a webhook that is not configured yet, and a transcript. */
export interface Stage {
  readonly ns: string;
  readonly widgets: WidgetApi;
  readonly hook: Hook;
  readonly log: Transcript;
}

/** Sets a case up. */
export async function stage(t: Context): Promise<Stage> {
  const ns = await t.namespace();
  const widgets = await t.widgets();
  const hook = await startHook(t, ns);
  return { ns, widgets, hook, log: transcript({ NS: ns, GROUP: widgets.group, PORT: hook.port }) };
}
