/** helm's commands, and what they leave on the server. */
import { playHelm } from '../helm/play.js';
import { helmVersion } from '../programs.js';
import type { TranscriptSuite } from './transcripts.js';

export const helm: TranscriptSuite = { suite: 'helm', version: helmVersion, play: playHelm };
