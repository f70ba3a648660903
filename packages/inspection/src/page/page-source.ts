/**
 * The page, one HTML file with its script and its styles. The build fills it in (`build/inline-page.mjs`); it is absent
 * in the workspace, which runs the sources.
 */
export const pageSource: string | undefined = undefined;
