/**
 * The page: one HTML file with its script and its styles. The build fills it in (`build/inline-page.mjs`); in the
 * workspace, where the sources run, there is none.
 */
export const pageSource: string | undefined = undefined;
