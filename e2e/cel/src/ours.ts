import { CelCompileError, CelEvaluationError, createCelEnvironment, structuralSchema } from '@kctl/cel';
import type { Answer, Question } from './oracle.js';

const base = createCelEnvironment();

/** Our answer to the same question. */
export function answer(question: Question): Answer {
  const schema = structuralSchema(question.schema as object);
  const environment = base.extend({ self: { schema }, oldSelf: { schema } });
  try {
    const program = environment.compile(question.rule, { resultType: question.isText === true ? 'string' : 'bool' });
    const { max } = program.estimateCost();
    const maxCost = max === Infinity ? 2 ** 64 : max;
    try {
      const { value, cost } = program.evaluate({ self: question.self, oldSelf: question.oldSelf });
      return { maxCost, value, cost };
    } catch (error) {
      if (error instanceof CelEvaluationError) return { maxCost, error: error.message, cost: error.cost };
      throw error;
    }
  } catch (error) {
    if (error instanceof CelCompileError) {
      const isOtherType = error.message.startsWith('must evaluate to');
      if (question.isText !== true) {
        const text = isOtherType ? 'cel expression must evaluate to a bool' : error.message;
        return { compileError: text, maxCost: 0, cost: 0 };
      }
      const detail = isOtherType ? 'must evaluate to a string' : error.message.replace(/^program /, '');
      return { compileError: `messageExpression ${detail}`, maxCost: 0, cost: 0 };
    }
    throw error;
  }
}
