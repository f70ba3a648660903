import { Argument, type Command, Option } from 'commander';
import { defaultTimeoutMs } from './deploy/wait-for.js';
import { add, additions, describeAddition, type AddOptions } from './commands/add.js';
import { bundle, type BuildOptions } from './commands/build.js';
import { deploy, install, undeploy, uninstall, type ChangeOutcome, type InstallOptions } from './commands/install.js';
import { dev, type DevOptions } from './commands/dev.js';
import { doctor } from './commands/doctor.js';
import { formatFindings } from './doctor/finding.js';
import { inspect, formatReplicas } from './commands/inspect.js';
import { openPage, why } from './commands/why.js';
import { failWhereStale, generate, groupsOf } from './commands/generate.js';
import type { GenerateOutcome } from './manifests/compare-files.js';
import { writeKinds } from './commands/kinds.js';
import { describeUpdate, failOnConflicts, update, type UpdateOptions } from './commands/update.js';
import { completions, completionScript, shells } from './completion.js';
import { oneOf } from './call-errors.js';
import type { Definer } from './definer.js';
import { definePlan } from './plan/define-plan.js';
import { CliError } from './errors.js';
import type { CliIo } from './io.js';
import { formatTimeline } from './inspect/format-timeline.js';
import type { InspectionOptions } from './inspect/on-inspections.js';
import { fileGroups } from './manifests/generate-files.js';
import { ownCommand } from './own-command.js';
import { secondsOf } from './seconds-of.js';

interface ClusterFlags {
  readonly kubeconfig?: string;
  readonly context?: string;
}

type InspectFlags = InspectionOptions & { readonly json?: boolean; readonly page?: boolean };

type GenerateFlags = ClusterFlags & {
  readonly main?: string;
  readonly output?: string;
  readonly image?: string;
  readonly check?: boolean;
  readonly overwrite?: boolean;
  readonly json?: boolean;
  readonly from?: readonly string[];
  readonly group?: readonly string[];
};

/** Adds all commands to the program; each writes through `io` alone. */
export function defineCommands(program: Command, io: CliIo): void {
  const definer: Definer = {
    io,
    command: (name, description, example) =>
      program
        .command(name)
        .description(description)
        .exitOverride()
        .configureOutput({ writeOut: io.out, writeErr: () => undefined })
        .addHelpText('after', `\nExample:\n  ${example}\n`),
    onCluster: (of, otherwise = 'as kubectl finds it') =>
      of
        .option('--kubeconfig <file>', `kubeconfig (default: ${otherwise})`)
        .option('--context <name>', 'context of the kubeconfig'),
    withMain: (of) =>
      of.option(
        '--main <module>',
        'module that exports the operator (default: kctl.main in package.json, src/main.ts)',
      ),
  };
  defineAdd(definer);
  defineGenerate(definer);
  defineChanges(definer);
  definePlan(definer);
  defineDev(definer);
  defineBuild(definer);
  defineUpdate(definer);
  defineDoctor(definer);
  defineWhy(definer, defineInspect(definer));
  defineCompletion(definer, program);
}

function defineAdd({ io, command, withMain }: Definer): void {
  withMain(
    command('add', 'add a kind, a controller or a webhook to the project', ownCommand('add resource Certificate')),
  )
    .addArgument(oneOf(new Argument('<what>', 'what to add'), additions))
    .argument(
      '<Kind>',
      'custom resource, such as Certificate; of a controller also a built-in kind, such as Deployment.apps',
    )
    .option('--group <domain>', 'group of the API, or prefix of the label (default: the group of the project)')
    .option('--dry-run', 'list what would be written')
    .option('--json', 'what was written as JSON')
    .action(async (what: string, kind: string, { json, ...options }: AddOptions & { readonly json?: boolean }) => {
      const outcome = await add(io, { what, kind }, options);
      io.out(json === true ? asJson(outcome) : describeAddition(outcome, options.dryRun === true));
    });
}

function defineGenerate({ io, command, onCluster, withMain }: Definer): void {
  const of = withMain(
    onCluster(
      command('generate', 'write manifests from the operator, or kinds from CRDs', ownCommand('generate rbac --check')),
    ),
  );
  of.addArgument(
    oneOf(new Argument('[what]', 'which files'), ['all', 'manifests', 'kinds', ...fileGroups, 'crd', 'webhook'], 'all'),
  )
    .argument('[module]', 'the same as --main')
    .option('--output <folder>', 'folder to write (default: kctl.output in package.json, deploy; src/kinds for kinds)')
    .option('--image <reference>', 'image of the Deployment (default: kctl.image in package.json)')
    .option('--check', 'write nothing, and fail where a file is out of date')
    .option('--overwrite', 'write over files that kctl has not written')
    .option('--json', 'what was written as JSON')
    .option('--from <source...>', 'for kinds: files, folders, URLs, or "cluster"')
    .option('--group <name...>', 'for kinds: the groups that are written (default: all)')
    .action(async (what: string, module: string | undefined, given: GenerateFlags) => {
      const options = module === undefined ? given : { ...given, main: module };
      if (what === 'kinds') {
        if (options.from === undefined)
          throw new CliError(`${ownCommand('generate kinds')} needs --from: a file, a folder, a URL or "cluster"`, {
            exitCode: 2,
          });
        const output = options.output ?? 'src/kinds';
        const kinds = await writeKinds(io, { ...options, from: options.from, output });
        if (options.json === true) io.out(asJson(kinds));
        if (options.check === true) failWhereStale(kinds, ownCommand('generate kinds'));
        if (options.json !== true) io.out(describeKinds(kinds));
        return;
      }
      const ofKinds = ['from', 'group'].filter((name) => Object.hasOwn(given, name)).map((name) => `--${name}`);
      if (ofKinds.length > 0)
        throw new CliError(
          `${ofKinds.join(' and ')} of ${ownCommand(`generate ${what}`)}: these are for ${ownCommand('generate kinds --from <source>')}`,
          { exitCode: 2 },
        );
      const outcome = await generate(io, groupsOf(what), options);
      if (options.json === true) io.out(asJson(outcome));
      if (options.check === true) failWhereStale(outcome);
      if (options.json !== true) io.out(describeOutcome(outcome));
    });
}

function defineChanges({ io, command, onCluster, withMain }: Definer): void {
  const change = (
    name: string,
    description: string,
    run: (io: CliIo, options: InstallOptions) => Promise<ChangeOutcome>,
  ): void => {
    const of = withMain(onCluster(command(name, description, ownCommand(`${name} --dry-run`))))
      .option('--dry-run', 'ask the server, and change nothing')
      .addOption(
        new Option('--timeout <seconds>', 'how long each object may take')
          .default(defaultTimeoutMs / 1000)
          .argParser(secondsOf),
      )
      .option('--json', 'what became of each object as JSON');
    if (name === 'deploy') of.option('--image <reference>', 'image (default: kctl.image in package.json)');
    if (name.startsWith('un')) of.option('--delete-objects', 'delete the objects of the kinds, too');
    of.action(
      async ({ timeout, json, ...options }: InstallOptions & { readonly timeout: number; readonly json?: boolean }) => {
        const outcome = await run(io, { ...options, timeoutMs: timeout * 1000 });
        if (json === true) io.out(asJson(outcome));
      },
    );
  };
  change('install', 'apply the CRDs, and wait until they are established', install);
  change('uninstall', 'delete the CRDs, and wait until they are gone', uninstall);
  change('deploy', 'apply everything, and wait until the operator is available', deploy);
  change('undeploy', 'delete the operator and its CRDs, and wait until they are gone', undeploy);
}

function defineDev({ io, command, onCluster, withMain }: Definer): void {
  withMain(
    onCluster(
      command(
        'dev',
        'run the operator, restarted when a file changes; without a cluster on a server of its own',
        ownCommand('dev -- --log-level debug'),
      ),
      'with --context as kubectl finds it, else no cluster',
    ),
  )
    .option('--samples <folder>', 'objects to apply at the start (default: deploy/samples)')
    .option('--take-over', 'in a cluster: take the lease of a deployed copy until the end; end another kctl dev')
    .option(
      '--webhook-host <host>',
      'by which the cluster reaches this machine (default: known of k3d, kind, minikube and desktops)',
    )
    .option('--json', 'logs of the operator, and what the command does, as JSON, a line each')
    .argument('[arguments...]', 'for the operator')
    .action(
      async (given: string[], options: Omit<DevOptions, 'arguments'>) =>
        await dev(io, { ...options, arguments: given }),
    );
}

function defineBuild({ io, command, withMain }: Definer): void {
  withMain(command('build', 'write the operator as one file, for the image', ownCommand('build --no-minify')))
    .option('--outfile <file>', 'file to write (default: dist/main.mjs)')
    .option('--no-minify', 'leave comments and lines as they are')
    .addOption(
      new Option('--source-map <files>', 'the files that the source map is of; all of them take 18 MB at run time')
        .choices(['own', 'all', 'none'])
        .default('own'),
    )
    .option('--image [reference]', 'build the image, too, by docker, podman, nerdctl or buildah (default: kctl.image)')
    .option('--json', 'what was written as JSON')
    .action(async ({ json, ...options }: BuildOptions & { readonly json?: boolean }) => {
      const outcome = await bundle(io, options);
      io.out(
        json === true
          ? asJson(outcome)
          : `wrote ${outcome.written[0] ?? ''}\n${outcome.image === undefined ? '' : `built ${outcome.image}\n`}`,
      );
    });
}

function defineUpdate({ io, command }: Definer): void {
  command('update', 'merge what a newer @kctl/create makes into the project', ownCommand('update --dry-run'))
    .option('--dry-run', 'list what would be changed')
    .option('--json', 'what became of which files as JSON')
    .action(async ({ json, ...options }: UpdateOptions & { readonly json?: boolean }) => {
      const outcome = await update(io, options);
      const dryRun = options.dryRun === true;
      io.out(json === true ? asJson({ dryRun, ...outcome }) : describeUpdate(outcome, dryRun));
      failOnConflicts(outcome, dryRun);
    });
}

function defineDoctor({ io, command, onCluster, withMain }: Definer): void {
  withMain(
    onCluster(
      command(
        'doctor',
        'look at Node, project, cluster, CRDs, webhooks, rights and memory',
        ownCommand('doctor --as-operator'),
      ),
    ),
  )
    .option('--as-operator', "judge the rights of the operator's service account")
    .option('--json', 'findings as JSON')
    .action(
      async ({
        json,
        ...options
      }: ClusterFlags & { readonly main?: string; readonly asOperator?: boolean; readonly json?: boolean }) => {
        const findings = await doctor(io, options);
        io.out(json === true ? `${JSON.stringify({ findings }, null, 2)}\n` : formatFindings(findings));
        failWhere(findings.filter(({ status }) => status === 'problem').length);
      },
    );
}

function defineInspect({ io, command, onCluster, withMain }: Definer): Command {
  const inspectCommand = withMain(
    onCluster(
      command(
        'inspect',
        'show what a deployed operator does: controllers, informers, what is wrong',
        ownCommand('inspect deployment/websites --namespace websites-system'),
      ),
    ),
  );
  inspectCommand
    .argument('[workload]', "workload, such as deployment/websites (default: the Deployment of the project's operator)")
    .option('--namespace <name>', 'namespace of the workload (default: the namespace of the operator)')
    .option('--json', 'what each replica says as JSON')
    .addOption(
      new Option('--page', 'open the page of its inspection, and keep it reachable until Ctrl-C').conflicts('json'),
    )
    .option('--url <address>', 'address of an inspection that this machine reaches, such as that of kctl dev')
    .action(async (target: string | undefined, given: InspectFlags) => {
      const { json, page, ...flags } = given;
      const options = { ...flags, ...(target === undefined ? {} : { target }) };
      if (page === true) {
        await openPage(io, options);
        return;
      }
      const replicas = await inspect(io, options);
      io.out(json === true ? `${JSON.stringify({ replicas }, null, 2)}\n` : formatReplicas(replicas));
      failWhere(
        replicas.flatMap((replica) => (replica.error === undefined ? replica.problems : [replica.error])).length,
      );
    });
  return inspectCommand;
}

function defineWhy({ io, onCluster, withMain }: Definer, inspectCommand: Command): void {
  withMain(
    onCluster(
      inspectCommand
        .command('why')
        .description('show why an object was reconciled, what the runs wrote, and what that led to')
        .exitOverride()
        .configureOutput({ writeOut: io.out, writeErr: () => undefined })
        .addHelpText('after', `\nExample:\n  ${ownCommand('inspect why deployment/shop/web')}\n`),
    ),
  )
    .argument('<object>', 'kind, namespace and name, such as deployment/shop/web')
    .option(
      '--target <workload>',
      "workload, such as deployment/websites (default: the Deployment of the project's operator)",
    )
    .option('--namespace <name>', 'namespace of the workload (default: the namespace of the operator)')
    .option('--url <address>', 'address of an inspection that this machine reaches, such as that of kctl dev')
    .option('--json', 'the timelines as JSON')
    .action(async (object: string, _own: unknown, self: Command) => {
      // Options that both commands have are the parent's if they precede the command name.
      const { json, ...options }: InspectFlags = self.optsWithGlobals();
      const found = await why(io, object, options);
      io.out(
        json === true
          ? asJson({ replicas: found })
          : found.map((each) => formatTimeline(`${object} in ${each.replica}`, each)).join('\n'),
      );
    });
}

function defineCompletion({ io, command }: Definer, program: Command): void {
  command('completion', 'print the completion script of a shell', `source <(${ownCommand('completion bash')})`)
    .addArgument(oneOf(new Argument('<shell>'), shells))
    .action((shell: string) => io.out(completionScript(shell)));
  program
    .command('complete', { hidden: true })
    .argument('[words...]')
    .action((words: string[]) =>
      io.out(
        completions(program, words)
          .map((word) => `${word}\n`)
          .join(''),
      ),
    );
}

function asJson(value: unknown): string {
  return `${JSON.stringify(value)}\n`;
}

/** @throws CliError if there are problems; the findings have been printed */
function failWhere(problems: number): void {
  if (problems > 0) throw new CliError(`${problems} ${problems === 1 ? 'problem' : 'problems'} found`);
}

function describeKinds({ written, unchanged }: GenerateOutcome): string {
  const lines = written.map((path) => `wrote ${path}\n`);
  return [...lines, ...(unchanged.length > 0 ? [`${unchanged.length} unchanged\n`] : [])].join('');
}

function describeOutcome({ written, unchanged, removed }: GenerateOutcome): string {
  const lines = [...written.map((path) => `wrote ${path}`), ...removed.map((path) => `removed ${path}`)];
  const same = unchanged.length === 1 ? '1 file is up to date' : `${unchanged.length} files are up to date`;
  return `${[...lines, ...(unchanged.length === 0 ? [] : [same])].join('\n')}\n`;
}
