import { test } from 'node:test';
import { drawnShapes } from './recorded/drawn-shapes.ts';
import { readings } from './recorded/parts.ts';

test('what drawn shapes are taken for, what is made of them, and how rows go through drawn histories is what is written down', () => {
  readings.hold(drawnShapes(), /^(?:shapes|history)/);
});
