import { parentPort } from 'node:worker_threads';
import { createRuleValidator } from '@kctl/cel';
import { type AuthorizationQuestion } from '@kctl/cel/internal';
import { messageOf } from '@kctl/telemetry/internal';
import { jsonText } from '@kctl/crd/internal/engine';
import { evaluateWebhookConditions } from './admission/webhook/conditions.js';
import { judgeMutation, judgeMutationConditions } from './admission/policy/mutating-policies.js';
import { judgePolicy } from './admission/policy/validating-policies.js';
import type { Ask } from './admission/expressions/evaluation.js';
import { maxDepth } from './json/strict-json.js';
import { duplicateKeys, readYaml, toYaml, YamlProblem } from './json/yaml.js';
import { encodeDocument, performV2, performV3 } from './discovery/openapi/fragment-job.js';
import { encodeText } from './protobuf/encode-text.js';
import { readThere } from './threads/read-there.js';
import { KnownDefinitions } from './threads/known-definitions.js';
import { LongWriter } from './threads/long-writer.js';
import type { Job, JobResult, JobResults, KnownAnswers, Question } from './offload/jobs.js';
import type { Offload, OffloadMessage } from './offload/offload.js';
import { performRow } from './table/row-job.js';

/** Ends an evaluation that needs an answer of the authorizer, which only the other thread has. */
class NeedsAnswer extends Error {
  readonly question: AuthorizationQuestion;

  constructor(question: AuthorizationQuestion) {
    super('the evaluation needs an answer of the authorizer');
    this.question = question;
  }
}

function answering(answers: KnownAnswers): Ask {
  return (question) => {
    const known = answers[JSON.stringify(question)];
    if (known === undefined) throw new NeedsAnswer(question);
    return known;
  };
}

/** The result, or the question that stands before it. */
function orQuestion<T>(evaluate: () => T): T | Question {
  try {
    return evaluate();
  } catch (error) {
    if (error instanceof NeedsAnswer) return { question: error.question };
    throw error;
  }
}

/** Jobs of jobs are done at once, because this is the thread for them. */
const here: Offload = {
  depth: maxDepth,
  run: async <J extends Job>(job: J) => (await perform(job)) as JobResult<J>,
  close: () => undefined,
};
let known: KnownDefinitions | undefined;

async function perform(job: Job): Promise<JobResults[Job['type']]> {
  switch (job.type) {
    case 'write':
      return new LongWriter(here, (known ??= new KnownDefinitions())).perform(job);
    case 'read':
      return readThere((known ??= new KnownDefinitions()), job);
    case 'yaml':
      try {
        const { value, duplicates } = await readYaml(job.text);
        return { json: jsonText(value), duplicates: duplicateKeys(duplicates) };
      } catch (error) {
        if (error instanceof YamlProblem) return { problem: error.message };
        throw error;
      }
    case 'protobuf':
      return encodeText(job);
    case 'row':
      return performRow(job);
    case 'openApiV2':
      return performV2(job);
    case 'openApiV3':
      return performV3(job);
    case 'openApiDocument':
      return encodeDocument(job.text);
    case 'toYaml':
      return toYaml(job.json);
    case 'rules': {
      const options = job.old === undefined ? {} : { old: job.old };
      return createRuleValidator(job.schema)?.validate(job.object, options) ?? { errors: [], warnings: [] };
    }
    case 'conditions':
      return orQuestion(() =>
        evaluateWebhookConditions(job.conditions, { facts: job.facts, ask: answering(job.answers) }),
      );
    case 'validations':
      return orQuestion(() => judgePolicy(job.policy, { facts: job.facts, ask: answering(job.answers) }));
    case 'mutationConditions':
      return orQuestion(() => judgeMutationConditions(job.policy, { facts: job.facts, ask: answering(job.answers) }));
    case 'mutation':
      return orQuestion(() => judgeMutation(job.policy, job.index, { facts: job.facts, ask: answering(job.answers) }));
  }
}

const port = parentPort;
if (port === null) throw new Error('offload-main runs in a worker thread only');
port.on('message', (job: Job) => {
  void perform(job).then(
    (value): void => port.postMessage({ value } satisfies OffloadMessage),
    (error: unknown) => port.postMessage({ error: messageOf(error) } satisfies OffloadMessage),
  );
});
