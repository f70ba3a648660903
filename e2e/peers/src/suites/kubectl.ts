/** kubectl's commands. */
import { playKubectl } from '../kubectl/play.js';
import { kubectlVersion } from '../programs.js';
import type { TranscriptSuite } from './transcripts.js';

export const kubectl: TranscriptSuite = { suite: 'kubectl', version: kubectlVersion, play: playKubectl };
