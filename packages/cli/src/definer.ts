import type { Command } from 'commander';
import type { CliIo } from './io.js';

/** Parts that every command is made with. */
export interface Definer {
  readonly io: CliIo;
  readonly command: (name: string, description: string, example: string) => Command;
  readonly onCluster: (of: Command, otherwise?: string) => Command;
  readonly withMain: (of: Command) => Command;
}
