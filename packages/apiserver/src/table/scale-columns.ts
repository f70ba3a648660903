import { at, numberOf } from '@kctl/crd/internal/engine';
import { ageColumn, integer, nameColumn, type PrintedColumn } from './column.js';

/** The columns of an autoscaling/v1 Scale. */
export const scaleColumns: readonly PrintedColumn[] = [
  { ...nameColumn, format: '' },
  integer(
    'Desired',
    (scale) => numberOf(at(scale, 'spec', 'replicas')) ?? 0,
    'replicas is the desired number of instances for the scaled object.',
  ),
  integer(
    'Available',
    (scale) => numberOf(at(scale, 'status', 'replicas')) ?? 0,
    'replicas is the actual number of observed instances of the scaled object.',
  ),
  ageColumn,
];
