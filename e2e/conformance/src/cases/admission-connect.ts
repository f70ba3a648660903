/** §2.11 Admission of CONNECT: exec, attach, port-forward and proxy show their options. */
import type { Context } from '../harness/context.js';
import type { Answer } from '../harness/http.js';
import { created } from '../harness/expect.js';
import {
  allow,
  deny,
  mutate,
  registration,
  rule,
  sorted,
  startHook,
  transcript,
  type Hook,
  type Review,
  type Transcript,
} from '../harness/hook.js';
import { spec } from '../harness/spec.js';
import { podDraft, podNamespace, pods } from './paths.js';

const needs = ['webhooks'] as const;

interface ConnectStage {
  readonly ns: string;
  readonly hook: Hook;
  readonly log: Transcript;
  /** What the policies of the case are called. */
  readonly policy: string;
  /** Connects to a pod, or to what the path says. */
  connect(what: string, method: string, path: string): Promise<Answer>;
}

/** A pod `p` with one container `c`, on no node; a webhook that is not configured yet. */
async function connectStage(t: Context): Promise<ConnectStage> {
  const ns = await podNamespace(t);
  const hook = await startHook(t, ns);
  const policy = t.unique('connect');
  const log = transcript({ NS: ns, PORT: hook.port, POLICY: policy });
  created(await t.post(pods(ns), podDraft('p')));
  return {
    ns,
    hook,
    log,
    policy,
    connect: async (what, method, path) => log.answer(what, await t.send(method, pods(ns, 'p') + path)),
  };
}

const connections = rule('', ['pods/*', 'services/*'], { operations: ['CONNECT'] });

function shown({ request }: Review): string {
  const { operation, subResource, requestSubResource, kind, requestKind, name, namespace } = request;
  const { object, oldObject, options, dryRun } = request;
  return `${operation} ${request.resource.resource}/${subResource}=${requestSubResource} ${kind.version}:${kind.kind}=${requestKind.kind} ${namespace}/${name} dryRun=${dryRun} options=${sorted(options)} old=${sorted(oldObject)} ${sorted(object)}`;
}

spec(
  66,
  'what webhooks are asked of exec, attach, port-forward and proxy',
  async (t) => {
    const { hook, log, connect, ns } = await connectStage(t);
    await hook.install('Mutating', [hook.entry('m.kctl.test', { rules: [connections] })]);
    await hook.install('Validating', [hook.entry('v.kctl.test', { rules: [connections] })]);
    const ask = async (what: string, method: string, path: string): Promise<void> => {
      await connect(what, method, path);
      log.reviews(hook, shown);
    };
    await ask('exec', 'POST', '/exec?command=ls&command=-l&stdin=1&stdout=true&stderr=false&tty=x&container=c&other=1');
    await ask('exec by GET', 'GET', '/exec?command=');
    await ask('exec of nothing', 'POST', '/exec');
    await ask('attach', 'POST', '/attach?stdout=true&container=c');
    await ask('portforward', 'POST', '/portforward?ports=80,81&ports=82');
    await ask('portforward of no port', 'POST', '/portforward');
    await ask('portforward of a bad port', 'POST', '/portforward?ports=http');
    await ask('portforward of a large port', 'POST', '/portforward?ports=70000');
    await ask('portforward of port 0', 'POST', '/portforward?ports=0');
    await ask('proxy', 'GET', '/proxy/a/b?c=d');
    await ask('proxy of the root', 'PUT', '/proxy/');
    await ask('proxy without a path', 'DELETE', '/proxy');
    await ask('proxy with a path of its own', 'GET', '/proxy/a/?path=/other');
    await ask('dry run', 'POST', '/exec?command=ls&dryRun=All');
    log.say(`log: ${(await t.get(`${pods(ns, 'p')}/log`)).status}`);
    log.reviews(hook, shown);
    log.answer('exec of no such pod', await t.send('POST', `${pods(ns, 'none')}/exec?command=ls`));
    log.reviews(hook, shown);
    log.answer('proxy of a port', await t.send('GET', `${pods(ns, 'http:p:80')}/proxy/x`));
    log.reviews(hook, shown);
    log.answer('service', await t.send('GET', `/api/v1/namespaces/${ns}/services/none:http/proxy/x`));
    log.reviews(hook, shown);
    log.is(`
      exec: 400 BadRequest pod p does not have a host assigned
        /m?timeout=5s CONNECT pods/exec=exec v1:PodExecOptions=PodExecOptions NS/p dryRun=false options=null old=null {"apiVersion":"v1","command":["ls","-l"],"container":"c","kind":"PodExecOptions","stdin":true,"stdout":true,"tty":true}
        /v?timeout=5s CONNECT pods/exec=exec v1:PodExecOptions=PodExecOptions NS/p dryRun=false options=null old=null {"apiVersion":"v1","command":["ls","-l"],"container":"c","kind":"PodExecOptions","stdin":true,"stdout":true,"tty":true}
      exec by GET: 400 BadRequest pod p does not have a host assigned
        /m?timeout=5s CONNECT pods/exec=exec v1:PodExecOptions=PodExecOptions NS/p dryRun=false options=null old=null {"apiVersion":"v1","command":[""],"kind":"PodExecOptions"}
        /v?timeout=5s CONNECT pods/exec=exec v1:PodExecOptions=PodExecOptions NS/p dryRun=false options=null old=null {"apiVersion":"v1","command":[""],"kind":"PodExecOptions"}
      exec of nothing: 400 BadRequest pod p does not have a host assigned
        /m?timeout=5s CONNECT pods/exec=exec v1:PodExecOptions=PodExecOptions NS/p dryRun=false options=null old=null {"apiVersion":"v1","command":null,"kind":"PodExecOptions"}
        /v?timeout=5s CONNECT pods/exec=exec v1:PodExecOptions=PodExecOptions NS/p dryRun=false options=null old=null {"apiVersion":"v1","command":null,"kind":"PodExecOptions"}
      attach: 400 BadRequest pod p does not have a host assigned
        /m?timeout=5s CONNECT pods/attach=attach v1:PodAttachOptions=PodAttachOptions NS/p dryRun=false options=null old=null {"apiVersion":"v1","container":"c","kind":"PodAttachOptions","stdout":true}
        /v?timeout=5s CONNECT pods/attach=attach v1:PodAttachOptions=PodAttachOptions NS/p dryRun=false options=null old=null {"apiVersion":"v1","container":"c","kind":"PodAttachOptions","stdout":true}
      portforward: 400 BadRequest pod p does not have a host assigned
        /m?timeout=5s CONNECT pods/portforward=portforward v1:PodPortForwardOptions=PodPortForwardOptions NS/p dryRun=false options=null old=null {"apiVersion":"v1","kind":"PodPortForwardOptions","ports":[80,81,82]}
        /v?timeout=5s CONNECT pods/portforward=portforward v1:PodPortForwardOptions=PodPortForwardOptions NS/p dryRun=false options=null old=null {"apiVersion":"v1","kind":"PodPortForwardOptions","ports":[80,81,82]}
      portforward of no port: 400 BadRequest pod p does not have a host assigned
        /m?timeout=5s CONNECT pods/portforward=portforward v1:PodPortForwardOptions=PodPortForwardOptions NS/p dryRun=false options=null old=null {"apiVersion":"v1","kind":"PodPortForwardOptions"}
        /v?timeout=5s CONNECT pods/portforward=portforward v1:PodPortForwardOptions=PodPortForwardOptions NS/p dryRun=false options=null old=null {"apiVersion":"v1","kind":"PodPortForwardOptions"}
      portforward of a bad port: 400 BadRequest cannot convert to []int32: strconv.ParseUint: parsing "http": invalid syntax
        no review
      portforward of a large port: 400 BadRequest cannot convert to []int32: strconv.ParseUint: parsing "70000": value out of range
        no review
      portforward of port 0: 400 BadRequest pod p does not have a host assigned
        /m?timeout=5s CONNECT pods/portforward=portforward v1:PodPortForwardOptions=PodPortForwardOptions NS/p dryRun=false options=null old=null {"apiVersion":"v1","kind":"PodPortForwardOptions","ports":[0]}
        /v?timeout=5s CONNECT pods/portforward=portforward v1:PodPortForwardOptions=PodPortForwardOptions NS/p dryRun=false options=null old=null {"apiVersion":"v1","kind":"PodPortForwardOptions","ports":[0]}
      proxy: 400 BadRequest address not allowed
        /m?timeout=5s CONNECT pods/proxy=proxy v1:PodProxyOptions=PodProxyOptions NS/p dryRun=false options=null old=null {"apiVersion":"v1","kind":"PodProxyOptions","path":"/a/b"}
        /v?timeout=5s CONNECT pods/proxy=proxy v1:PodProxyOptions=PodProxyOptions NS/p dryRun=false options=null old=null {"apiVersion":"v1","kind":"PodProxyOptions","path":"/a/b"}
      proxy of the root: 400 BadRequest address not allowed
        /m?timeout=5s CONNECT pods/proxy=proxy v1:PodProxyOptions=PodProxyOptions NS/p dryRun=false options=null old=null {"apiVersion":"v1","kind":"PodProxyOptions","path":"/"}
        /v?timeout=5s CONNECT pods/proxy=proxy v1:PodProxyOptions=PodProxyOptions NS/p dryRun=false options=null old=null {"apiVersion":"v1","kind":"PodProxyOptions","path":"/"}
      proxy without a path: 400 BadRequest address not allowed
        /m?timeout=5s CONNECT pods/proxy=proxy v1:PodProxyOptions=PodProxyOptions NS/p dryRun=false options=null old=null {"apiVersion":"v1","kind":"PodProxyOptions"}
        /v?timeout=5s CONNECT pods/proxy=proxy v1:PodProxyOptions=PodProxyOptions NS/p dryRun=false options=null old=null {"apiVersion":"v1","kind":"PodProxyOptions"}
      proxy with a path of its own: 400 BadRequest address not allowed
        /m?timeout=5s CONNECT pods/proxy=proxy v1:PodProxyOptions=PodProxyOptions NS/p dryRun=false options=null old=null {"apiVersion":"v1","kind":"PodProxyOptions","path":"/a/"}
        /v?timeout=5s CONNECT pods/proxy=proxy v1:PodProxyOptions=PodProxyOptions NS/p dryRun=false options=null old=null {"apiVersion":"v1","kind":"PodProxyOptions","path":"/a/"}
      dry run: 400 BadRequest dryRun is not supported
        no review
      log: 204
        no review
      exec of no such pod: 404 NotFound pods "none" not found {"kind":"pods","name":"none"}
        /m?timeout=5s CONNECT pods/exec=exec v1:PodExecOptions=PodExecOptions NS/none dryRun=false options=null old=null {"apiVersion":"v1","command":["ls"],"kind":"PodExecOptions"}
        /v?timeout=5s CONNECT pods/exec=exec v1:PodExecOptions=PodExecOptions NS/none dryRun=false options=null old=null {"apiVersion":"v1","command":["ls"],"kind":"PodExecOptions"}
      proxy of a port: 400 BadRequest address not allowed
        /m?timeout=5s CONNECT pods/proxy=proxy v1:PodProxyOptions=PodProxyOptions NS/http:p:80 dryRun=false options=null old=null {"apiVersion":"v1","kind":"PodProxyOptions","path":"/x"}
        /v?timeout=5s CONNECT pods/proxy=proxy v1:PodProxyOptions=PodProxyOptions NS/http:p:80 dryRun=false options=null old=null {"apiVersion":"v1","kind":"PodProxyOptions","path":"/x"}
      service: 404 NotFound services "none" not found {"kind":"services","name":"none"}
        /m?timeout=5s CONNECT services/proxy=proxy v1:ServiceProxyOptions=ServiceProxyOptions NS/none:http dryRun=false options=null old=null {"apiVersion":"v1","kind":"ServiceProxyOptions","path":"/x"}
        /v?timeout=5s CONNECT services/proxy=proxy v1:ServiceProxyOptions=ServiceProxyOptions NS/none:http dryRun=false options=null old=null {"apiVersion":"v1","kind":"ServiceProxyOptions","path":"/x"}
    `);
  },
  { needs },
);

spec(
  66,
  'webhooks refuse, warn of and change what is connected to',
  async (t) => {
    const { hook, log, connect } = await connectStage(t);
    await hook.install('Mutating', [hook.entry('m.kctl.test', { rules: [connections] })]);
    await hook.install('Validating', [
      hook.entry('v.kctl.test', { rules: [connections] }),
      hook.entry('labelled.kctl.test', { rules: [connections], objectSelector: { matchLabels: { a: 'b' } } }),
      hook.entry('unlabelled.kctl.test', {
        rules: [connections],
        objectSelector: { matchExpressions: [{ key: 'a', operator: 'DoesNotExist' }] },
      }),
      hook.entry('matched.kctl.test', {
        rules: [connections],
        matchConditions: [
          { name: 'shell', expression: "has(object.command) && object.command[0] == 'sh'" },
          { name: 'connects', expression: "request.operation == 'CONNECT' && request.subResource == 'exec'" },
        ],
      }),
      hook.entry('others.kctl.test', { rules: [rule('', ['pods', 'pods/attach'], { operations: ['*'] })] }),
    ]);
    const step = async (
      what: string,
      answer: (path: string) => ReturnType<typeof allow>,
      path = '/exec?command=ls',
    ): Promise<void> => {
      hook.answer = ({ url }) => answer(url.split('?')[0] ?? '');
      await connect(what, 'POST', path);
      log.reviews(hook, ({ request }) => request.object, { isSorted: true });
    };
    const by = (name: string, answer: ReturnType<typeof allow>) => (path: string) =>
      path === `/${name}` ? answer : allow();
    await step('all allow', () => allow());
    await step('a shell', () => allow(), '/exec?command=sh&command=-c');
    await step('an attach', () => allow(), '/attach');
    await step('refused', by('v', deny({ code: 403, message: 'not here', reason: 'Forbidden' })));
    await step('refused early', by('m', deny()));
    await step('warned of', by('v', allow({ warnings: ['be careful'] })));
    await step('another container', by('m', mutate([{ op: 'add', path: '/container', value: 'other' }])));
    await step('another command', by('m', mutate([{ op: 'replace', path: '/command', value: ['sh', '-x'] }])));
    await step('a field that is not there', by('m', mutate([{ op: 'add', path: '/bogus', value: 1 }])));
    await step('a command of another type', by('m', mutate([{ op: 'replace', path: '/command', value: 'ls' }])));
    await step('another kind', by('m', mutate([{ op: 'replace', path: '/kind', value: 'PodAttachOptions' }])));
    await step('labels', by('m', mutate([{ op: 'add', path: '/metadata', value: { labels: { a: 'b' } } }])));
    log.is(`
      all allow: 400 BadRequest pod p does not have a host assigned
        /m?timeout=5s {"apiVersion":"v1","command":["ls"],"kind":"PodExecOptions"}
        /v?timeout=5s {"apiVersion":"v1","command":["ls"],"kind":"PodExecOptions"}
      a shell: 400 BadRequest pod p does not have a host assigned
        /m?timeout=5s {"apiVersion":"v1","command":["sh","-c"],"kind":"PodExecOptions"}
        /matched?timeout=5s {"apiVersion":"v1","command":["sh","-c"],"kind":"PodExecOptions"}
        /v?timeout=5s {"apiVersion":"v1","command":["sh","-c"],"kind":"PodExecOptions"}
      an attach: 400 BadRequest pod p does not have a host assigned
        /m?timeout=5s {"apiVersion":"v1","kind":"PodAttachOptions"}
        /others?timeout=5s {"apiVersion":"v1","kind":"PodAttachOptions"}
        /v?timeout=5s {"apiVersion":"v1","kind":"PodAttachOptions"}
      refused: 403 Forbidden admission webhook "v.kctl.test" denied the request: not here
        /m?timeout=5s {"apiVersion":"v1","command":["ls"],"kind":"PodExecOptions"}
        /v?timeout=5s {"apiVersion":"v1","command":["ls"],"kind":"PodExecOptions"}
      refused early: 400 - admission webhook "m.kctl.test" denied the request without explanation
        /m?timeout=5s {"apiVersion":"v1","command":["ls"],"kind":"PodExecOptions"}
      warned of: 400 BadRequest pod p does not have a host assigned
        warning: be careful
        /m?timeout=5s {"apiVersion":"v1","command":["ls"],"kind":"PodExecOptions"}
        /v?timeout=5s {"apiVersion":"v1","command":["ls"],"kind":"PodExecOptions"}
      another container: 400 BadRequest container other is not valid for pod p
        /m?timeout=5s {"apiVersion":"v1","command":["ls"],"kind":"PodExecOptions"}
        /v?timeout=5s {"apiVersion":"v1","command":["ls"],"container":"other","kind":"PodExecOptions"}
      another command: 400 BadRequest pod p does not have a host assigned
        /m?timeout=5s {"apiVersion":"v1","command":["ls"],"kind":"PodExecOptions"}
        /matched?timeout=5s {"apiVersion":"v1","command":["sh","-x"],"kind":"PodExecOptions"}
        /v?timeout=5s {"apiVersion":"v1","command":["sh","-x"],"kind":"PodExecOptions"}
      a field that is not there: 400 BadRequest pod p does not have a host assigned
        /m?timeout=5s {"apiVersion":"v1","command":["ls"],"kind":"PodExecOptions"}
        /v?timeout=5s {"apiVersion":"v1","command":["ls"],"kind":"PodExecOptions"}
      a command of another type: 500 InternalError Internal error occurred: json: cannot unmarshal string into Go struct field PodExecOptions.command of type []string {"causes":[{"message":"json: cannot unmarshal string into Go struct field PodExecOptions.command of type []string"}]}
        /m?timeout=5s {"apiVersion":"v1","command":["ls"],"kind":"PodExecOptions"}
      another kind: 500 - converting (v1.PodAttachOptions) to (core.PodExecOptions): unknown conversion
        /m?timeout=5s {"apiVersion":"v1","command":["ls"],"kind":"PodExecOptions"}
      labels: 400 BadRequest pod p does not have a host assigned
        /m?timeout=5s {"apiVersion":"v1","command":["ls"],"kind":"PodExecOptions"}
        /v?timeout=5s {"apiVersion":"v1","command":["ls"],"kind":"PodExecOptions"}
    `);
  },
  { needs },
);

spec(
  66,
  'policies change what is connected to',
  async (t) => {
    const { ns, log, policy } = await connectStage(t);
    const install = async (name: string, mutation: object): Promise<() => Promise<unknown>> => {
      const kinds = ['mutatingadmissionpolicybindings', 'mutatingadmissionpolicies'];
      const remove = async (): Promise<void> => {
        for (const kind of kinds) await t.delete(`${registration}/${kind}/${name}`);
      };
      t.defer(remove);
      created(
        await t.post(`${registration}/mutatingadmissionpolicies`, {
          apiVersion: 'admissionregistration.k8s.io/v1',
          kind: 'MutatingAdmissionPolicy',
          metadata: { name },
          spec: {
            matchConstraints: {
              namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': ns } },
              resourceRules: [
                {
                  apiGroups: [''],
                  apiVersions: ['v1'],
                  operations: ['CONNECT'],
                  resources: ['pods/exec', 'pods/portforward'],
                },
              ],
            },
            reinvocationPolicy: 'Never',
            mutations: [mutation],
          },
        }),
      );
      created(
        await t.post(`${registration}/mutatingadmissionpolicybindings`, {
          apiVersion: 'admissionregistration.k8s.io/v1',
          kind: 'MutatingAdmissionPolicyBinding',
          metadata: { name },
          spec: { policyName: name },
        }),
      );
      return remove;
    };
    const send = () => t.send('POST', `${pods(ns, 'p')}/exec?command=ls`);
    const mutations = {
      'JSON patch': {
        patchType: 'JSONPatch',
        jsonPatch: { expression: "[JSONPatch{op: 'add', path: '/container', value: 'other'}]" },
      },
      'apply configuration': {
        patchType: 'ApplyConfiguration',
        applyConfiguration: { expression: "Object{container: 'applied'}" },
      },
    };
    for (const [what, mutation] of Object.entries(mutations)) {
      const remove = await install(policy, mutation);
      const isChanged = ({ text }: Answer): boolean => !text.includes('assigned');
      log.answer(what, await t.eventually(send, isChanged, { what: 'the policy being in effect' }));
      await remove();
      await t.eventually(send, ({ text }) => text.includes('assigned'), { what: 'the policy being gone' });
    }
    log.is(`
      JSON patch: 400 BadRequest container other is not valid for pod p
      apply configuration: 403 Invalid policy 'POLICY' with binding 'POLICY' denied request: error applying patch: failed to convert patch object to typed object: no corresponding type for /v1, Kind=PodExecOptions {"causes":[{"message":"policy 'POLICY' with binding 'POLICY' denied request: error applying patch: failed to convert patch object to typed object: no corresponding type for /v1, Kind=PodExecOptions"}],"kind":"pods","name":"p"}
    `);
  },
  { needs },
);

spec(
  66,
  'policies decide on CONNECT',
  async (t) => {
    const { ns, log, policy: name } = await connectStage(t);
    t.defer(() => t.delete(`${registration}/validatingadmissionpolicybindings/${name}`));
    t.defer(() => t.delete(`${registration}/validatingadmissionpolicies/${name}`));
    created(
      await t.post(`${registration}/validatingadmissionpolicies`, {
        apiVersion: 'admissionregistration.k8s.io/v1',
        kind: 'ValidatingAdmissionPolicy',
        metadata: { name },
        spec: {
          matchConstraints: {
            namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': ns } },
            resourceRules: [
              {
                apiGroups: [''],
                apiVersions: ['v1'],
                operations: ['CONNECT'],
                resources: ['pods/exec', 'pods/portforward'],
              },
            ],
          },
          validations: [
            {
              expression: "!has(object.command) || object.command[0] != 'sh'",
              messageExpression: "'no shell: ' + object.kind + ' of ' + request.name + ' ' + string(oldObject == null)",
            },
            { expression: '!has(object.ports) || object.ports.all(port, port != 22)', message: 'no port 22' },
          ],
        },
      }),
    );
    created(
      await t.post(`${registration}/validatingadmissionpolicybindings`, {
        apiVersion: 'admissionregistration.k8s.io/v1',
        kind: 'ValidatingAdmissionPolicyBinding',
        metadata: { name },
        spec: { policyName: name, validationActions: ['Deny'] },
      }),
    );
    const send = (path: string) => t.send('POST', pods(ns, 'p') + path);
    await t.eventually(
      () => send('/exec?command=sh'),
      ({ text }) => text.includes('no shell'),
      { what: 'the policy being in effect' },
    );
    for (const path of [
      '/exec?command=sh',
      '/exec?command=ls',
      '/attach',
      '/portforward?ports=22',
      '/portforward?ports=80',
    ])
      log.answer(path, await send(path));
    log.is(`
      /exec?command=sh: 422 Invalid pods "p" is forbidden: ValidatingAdmissionPolicy 'POLICY' with binding 'POLICY' denied request: no shell: PodExecOptions of p true {"causes":[{"message":"ValidatingAdmissionPolicy 'POLICY' with binding 'POLICY' denied request: no shell: PodExecOptions of p true"}],"kind":"pods","name":"p"}
      /exec?command=ls: 400 BadRequest pod p does not have a host assigned
      /attach: 400 BadRequest pod p does not have a host assigned
      /portforward?ports=22: 422 Invalid pods "p" is forbidden: ValidatingAdmissionPolicy 'POLICY' with binding 'POLICY' denied request: no port 22 {"causes":[{"message":"ValidatingAdmissionPolicy 'POLICY' with binding 'POLICY' denied request: no port 22"}],"kind":"pods","name":"p"}
      /portforward?ports=80: 400 BadRequest pod p does not have a host assigned
    `);
  },
  { needs },
);
