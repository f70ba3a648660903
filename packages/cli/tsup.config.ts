import { recipe } from '@kctl/tsup-config';
import { defineConfig } from 'tsup';

// A program that kctl starts, beside its exports and commands.
export default defineConfig({ ...recipe, entry: { ...Object(recipe.entry), guardian: './src/guardian.ts' } });
