import { shopDemonstrations } from '../bench/faults/shop/demonstrations.ts';
import { shopFaults } from '../bench/faults/shop/faults.ts';
import { revokedShopKeys, shopKeys, startShop } from '../bench/faults/shop/start.ts';
import { demonstrate } from './faults/demonstrate.ts';

const keys = new Map([...shopKeys, ...revokedShopKeys].map(([key, { id }]) => [id, key]));

demonstrate('shop', shopFaults, startShop, shopDemonstrations, (who) => ({ 'X-Shop-Key': keys.get(who) ?? '' }));
