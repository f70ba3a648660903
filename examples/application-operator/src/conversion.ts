import { hubSpokeConverter, spoke, type Converter } from '@kctl/runtime';
import { Application } from './application.js';
import { ApplicationV2 } from './application-v2.js';

/** Where v1 keeps the stage, which only v2 has a field for: nothing is lost on the way there and back. */
export const stageAnnotation = `${Application.group}/stage`;

type Stage = NonNullable<ApplicationV2['spec']['stage']>;

/** Repository and tag of an image; a digest belongs to the repository. */
export function splitImage(image: string): ApplicationV2['spec']['image'] {
  const [, repository = image, tag] = /^((?:.*\/)?[^/:@]+):([^/:@]+)$/.exec(image) ?? [];
  return tag === undefined ? { repository } : { repository, tag };
}

/** The image of a repository and a tag. */
export function joinImage({ repository, tag }: ApplicationV2['spec']['image']): string {
  return tag === undefined ? repository : `${repository}:${tag}`;
}

/** Without a repository there is no image that v1 could have. */
function joined({ repository, tag }: { repository?: string | undefined; tag?: string | undefined }): {
  image?: string;
} {
  if (repository === undefined) return {};
  return { image: joinImage(tag === undefined ? { repository } : { repository, tag }) };
}

function isStage(text: string | undefined): text is Stage {
  return text === 'staging' || text === 'production';
}

/**
 * Converts between the versions of Application: v1 is the hub, v2 a spoke. The API server converts parts of objects, too:
 * `spec`, and each field of it, may be missing.
 */
export const applicationConverter: Converter = hubSpokeConverter(
  Application,
  spoke(Application, ApplicationV2, {
    toHub({ metadata, spec, status }) {
      const { image, stage, ...common } = spec ?? {};
      const annotations = { ...metadata.annotations, ...(stage === undefined ? {} : { [stageAnnotation]: stage }) };
      return {
        metadata: Object.keys(annotations).length === 0 ? metadata : { ...metadata, annotations },
        ...(spec === undefined ? {} : { spec: { ...common, ...joined(image ?? {}) } }),
        ...(status === undefined ? {} : { status }),
      };
    },
    fromHub({ metadata, spec, status }) {
      const { image, ...common } = spec ?? {};
      const { [stageAnnotation]: stage, ...others } = metadata.annotations ?? {};
      const { annotations: _, ...rest } = metadata;
      // Without a spec there is nowhere to put the stage: it stays where it is.
      const hasStage = spec !== undefined && isStage(stage);
      const hasOthers = Object.keys(others).length > 0;
      return {
        metadata: hasStage ? { ...rest, ...(hasOthers ? { annotations: others } : {}) } : metadata,
        ...(spec === undefined
          ? {}
          : {
              spec: {
                ...common,
                ...(image === undefined ? {} : { image: splitImage(image) }),
                ...(hasStage ? { stage } : {}),
              },
            }),
        ...(status === undefined ? {} : { status }),
      };
    },
  }),
);
