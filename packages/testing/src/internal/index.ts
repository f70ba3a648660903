/**
 * Parts that the packages of kctl share. They may change in any release.
 *
 * @packageDocumentation
 */
