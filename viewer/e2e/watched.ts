// A lab for the tests of a `describe`, none of which may leave an error in the console of its page.
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { Lab, type Opened } from './browser';

export class WatchedLab extends Lab {
  private opened: Opened | null = null;

  /** Called within the `describe`. */
  watch(): void {
    beforeAll(() => this.start(), 120000);
    afterAll(() => this.stop());
    afterEach(async () => {
      const problems = this.opened?.problems;
      await this.opened?.page.context().close();
      this.opened = null;
      expect(problems ?? []).toEqual([]);
    });
  }

  override async openPage(...of: Parameters<Lab['openPage']>): Promise<Opened> {
    return (this.opened = await super.openPage(...of));
  }

  /** Closes the page before the test is over. */
  async close(): Promise<void> {
    await this.opened!.page.context().close();
  }
}

export const pageOf = async (opened: Promise<Opened>): Promise<Page> => (await opened).page;
